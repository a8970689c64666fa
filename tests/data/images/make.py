# Pillow reference values. Images of coarse colour fields with some noise.
import io, json, os, struct, sys
import numpy as np
from PIL import Image
out=sys.argv[1]
rng=np.random.default_rng(18)
def picture(h,w):
    y,x=np.mgrid[0:h,0:w]
    a=np.stack([127+120*np.sin(x/3+y/7),127+120*np.cos(y/4-x/9),(x*7+y*13)%256],-1)
    a=a+rng.normal(0,12,a.shape); a[h//3:h//3+2]=255; a[:,w//4]=0
    return np.clip(a,0,255).astype(np.uint8)
d=out+'/images/decode/'
cases={}
def expect(name):
    im=Image.open(d+name); rgb=im.convert('RGB'); 
    Image.fromarray(np.array(rgb)).save(d+name.rsplit('.',1)[0]+'.expected.ppm')
h,w=9,14
rgb=Image.fromarray(picture(h,w)); alpha=Image.fromarray(rng.integers(0,256,(h,w),dtype=np.uint8))
grey=rgb.convert('L')
def save(name,im,**k): im.save(d+name,**k); expect(name)
save('rgb8.png',rgb); save('grey8.png',grey); save('grey1.png',grey.convert('1'))
rgba=rgb.copy(); rgba.putalpha(alpha); save('rgba8.png',rgba)
la=grey.copy(); la.putalpha(alpha); save('grey_alpha8.png',la)
p=rgb.quantize(37); save('palette8.png',p); save('palette4.png',rgb.quantize(11),bits=4); save('palette2.png',rgb.quantize(4),bits=2); save('palette1.png',rgb.quantize(2),bits=1)
save('palette_transparent.png',rgb.quantize(9),transparency=bytes([0,128,255,3]))
save('rgb_transparent.png',rgb,transparency=tuple(rgb.getpixel((0,0))))
# raw PNGs that Pillow cannot write
import zlib
def chunk(t,b): return struct.pack('>I',len(b))+t+b+struct.pack('>I',zlib.crc32(t+b))
def png(name,depth,colour,rows,extra=b''):
    raw=b''.join(b'\0'+r for r in rows)
    b=b'\x89PNG\r\n\x1a\n'+chunk(b'IHDR',struct.pack('>IIBBBBB',w,len(rows),depth,colour,0,0,0))+extra+chunk(b'IDAT',zlib.compress(raw))+chunk(b'IEND',b'')
    open(d+name,'wb').write(b)
def bits(a,depth):
    s=''.join(format(int(v),'0%db'%depth) for v in a); s+='0'*(-len(s)%8)
    return bytes(int(s[i:i+8],2) for i in range(0,len(s),8))
for depth in (2,4): png(f'grey{depth}.png',depth,0,[bits(rng.integers(0,1<<depth,w),depth) for _ in range(h)]); expect(f'grey{depth}.png')
png('rgb16.png',16,2,[rng.integers(0,256,w*6,dtype=np.uint8).tobytes() for _ in range(h)]); expect('rgb16.png')
png('rgba16.png',16,6,[rng.integers(0,256,w*8,dtype=np.uint8).tobytes() for _ in range(h)]); expect('rgba16.png')
png('grey_alpha16.png',16,4,[rng.integers(0,256,w*4,dtype=np.uint8).tobytes() for _ in range(h)]); expect('grey_alpha16.png')
# gamma and text, which do not change the pixels; Adam7
arr=np.array(rgb)
png('gamma_text.png',8,2,[r.tobytes() for r in arr],chunk(b'gAMA',struct.pack('>I',100000))+chunk(b'tEXt',b'Comment\0hello')); expect('gamma_text.png')
passes=[(0,0,8,8),(4,0,8,8),(0,4,4,8),(2,0,4,4),(0,2,2,4),(1,0,2,2),(0,1,1,2)]
raw=b''
for x0,y0,dx,dy in passes:
    s=arr[y0::dy,x0::dx]
    if s.shape[0] and s.shape[1]: raw+=b''.join(b'\0'+r.tobytes() for r in s)
open(d+'interlaced.png','wb').write(b'\x89PNG\r\n\x1a\n'+chunk(b'IHDR',struct.pack('>IIBBBBB',w,h,8,2,0,0,1))+chunk(b'IDAT',zlib.compress(raw))+chunk(b'IEND',b'')); expect('interlaced.png')
big=Image.fromarray(picture(19,23))
for s,n in ((0,'444'),(1,'422'),(2,'420')): save(f'yuv{n}.jpg',big,quality=85,subsampling=s)
save('progressive.jpg',big,quality=80,progressive=True)
save('grey.jpg',big.convert('L'),quality=85)
save('rgb.jpg',big,quality=90,keep_rgb=True)
save('cmyk.jpg',big.convert('CMYK'),quality=90)
save('small.jpg',Image.fromarray(picture(1,3)),quality=90)
save('restart.jpg',big,quality=80,restart_marker_blocks=2)
ex=Image.Exif(); ex[0x112]=6
save('rotated_by_exif.jpg',big,quality=80,exif=ex)
# resize
r=out+'/images/resize/'; os.makedirs(r,exist_ok=True)
sources={'a':picture(32,32),'b':picture(27,40),'c':picture(5,3),'d':picture(1,40),'e':(rng.integers(0,2,(24,24,3))*255).astype(np.uint8)}
for k,a in sources.items(): Image.fromarray(a).save(f'{r}{k}.ppm')
targets={'a':[(16,16),(7,32),(32,9),(1,1)],'b':[(24,24),(11,40),(27,20)],'c':[(16,16),(2,9)],'d':[(3,10),(1,7)],'e':[(17,17),(8,24),(26,29)]}
for k,ts in targets.items():
    for (hh,ww) in ts:
        for m,f in (('bicubic',Image.Resampling.BICUBIC),('bilinear',Image.Resampling.BILINEAR)):
            Image.fromarray(sources[k]).resize((ww,hh),f).save(f'{r}{k}_{m}_{hh}x{ww}.ppm')

"""Makes the files of this folder: python3 make.py (numpy 2.x). Tests compare with these formulas."""
import numpy as np

features = np.array([[i + j / 4 - 2 for j in range(3)] for i in range(4)])
for name, dtype in {"half": "<f2", "float": "<f4", "double": "<f8"}.items():
    np.save(f"{name}.npy", features.astype(dtype))
small = np.array([[2.0**-24, -(2.0**-14), 65504.0]] * 4)  # the least, the least normal, the largest
np.save("half_range.npy", small.astype("<f2"))
for dtype in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]:
    np.save(f"labels_{dtype}.npy", np.array([7, 9, 9, 7], dtype=dtype))
with open("version2.npy", "wb") as file:
    np.lib.format.write_array(file, features.astype("<f4"), version=(2, 0))
np.save("refused_fortran.npy", np.asfortranarray(features))
np.save("refused_big_endian.npy", features.astype(">f4"))
np.save("refused_objects.npy", np.array([[1, "a"]] * 4, dtype=object), allow_pickle=True)
np.save("refused_complex.npy", features.astype("<c16"))

# cmake -DSOURCE=DIR -DHEADER=FILE -P commit.cmake: the commit that is checked out in DIR as a macro
# in FILE, which is written only where it changes, so that nothing is built again for nothing. Empty
# where DIR is no checkout.
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  set(commit "")
endif()
set(content "#define HYFREEDP_COMMIT \"${commit}\"\n")
set(before "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT content STREQUAL before)
  file(WRITE ${HEADER} "${content}")
endif()

# SPDX-License-Identifier: Apache-2.0
# cmake -D SOURCE_DIR=... -D OUTPUT_DIR=... -P fingerprints.cmake: fingerprints of the sources that decide what the
# search answers. A table names those it was made with, and is of no use to any others. Nobody can tell which edit
# of code changes no answer, so every edit of what search/, rewrites/ and cost/ include, however deep, counts. Comments and
# layout don't: no user loses a table because a sentence reads better.
#
# Writes fingerprints.h, and the two lists of files (rules_sources.txt, cost_sources.txt), into OUTPUT_DIR. The test
# `fingerprint` asks the compiler and the linker whether a file is missing from them.

cmake_minimum_required(VERSION 3.25)

# The headers of ours that `source` includes.
function(includes_of source variable)
  file(STRINGS ${SOURCE_DIR}/${source} lines REGEX "^ *# *include +\"")
  set(headers "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^[^\"]*\"([^\"]*)\".*$" "\\1" header "${line}")
    if(EXISTS ${SOURCE_DIR}/${header})
      list(APPEND headers ${header})
    endif()
  endforeach()
  set(${variable} ${headers} PARENT_SCOPE)
endfunction()

# Sets implementers_<header> for each header: X.cc of X.h, and what has no header of its own and includes it in its
# own folder.
macro(find_implementers)
  foreach(folder IN ITEMS spec rewrites cost memo search)
    file(GLOB_RECURSE folder_sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.cc ${SOURCE_DIR}/${folder}/*.cc.in)
    foreach(source IN LISTS folder_sources)
      string(REGEX REPLACE "\\.cc(\\.in)?$" ".h" headers ${source})
      if(NOT EXISTS ${SOURCE_DIR}/${headers})
        includes_of(${source} headers)
        list(FILTER headers INCLUDE REGEX "^${folder}/")
      endif()
      foreach(header IN LISTS headers)
        list(APPEND implementers_${header} ${source})
      endforeach()
    endforeach()
  endforeach()
endmacro()

# All that the sources of some folders reach, themselves included, sorted.
function(closure_of variable)
  set(open "")
  foreach(folder IN LISTS ARGN)
    file(GLOB_RECURSE sources RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/${folder}/*.h ${SOURCE_DIR}/${folder}/*.cc)
    list(APPEND open ${sources})
  endforeach()
  set(reached ${open})
  while(open)
    list(POP_FRONT open source)
    includes_of(${source} next)
    foreach(found IN LISTS next implementers_${source})
      if(NOT found IN_LIST reached)
        list(APPEND reached ${found})
        list(APPEND open ${found})
      endif()
    endforeach()
  endwhile()
  list(SORT reached)
  set(${variable} ${reached} PARENT_SCOPE)
endfunction()

# What is left of a file without comments, and with one blank for any number of blanks and line breaks. (No string has two
# slashes: tests/fingerprint_test.py.)
function(tokens_of source variable)
  file(READ ${SOURCE_DIR}/${source} text)
  string(REGEX REPLACE "//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "[ \t\n]+" " " text "${text}")
  set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Of the names and the tokens of the files.
function(fingerprint_of variable)
  set(digests "")
  foreach(source IN LISTS ARGN)
    tokens_of(${source} text)
    string(SHA256 digest "${text}")
    string(APPEND digests "${source} ${digest}\n")
  endforeach()
  string(MD5 fingerprint "${digests}")
  set(${variable} ${fingerprint} PARENT_SCOPE)
endfunction()

function(write_list name)
  list(JOIN ARGN "\n" text)
  file(WRITE ${OUTPUT_DIR}/${name} "${text}\n")
endfunction()

find_implementers()
closure_of(rules search rewrites)
closure_of(cost cost)
fingerprint_of(KIRSCH_RULES_FINGERPRINT ${rules})
fingerprint_of(KIRSCH_COST_FINGERPRINT ${cost})
configure_file(${CMAKE_CURRENT_LIST_DIR}/fingerprints.h.in ${OUTPUT_DIR}/fingerprints.h @ONLY)
write_list(rules_sources.txt ${rules})
write_list(cost_sources.txt ${cost})

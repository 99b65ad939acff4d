// SPDX-License-Identifier: Apache-2.0
#include "tools/command.h"

int main(int argc, char** argv) { return kirsch::RunCommandLine(argc, argv); }

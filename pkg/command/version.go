package command

import "runtime/debug"

// version is set by the linker in releases and by the Makefile.
var version = ""

// Version of this evenkeel: what the linker was told, else what the Go module
// says, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

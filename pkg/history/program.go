package history

import "strings"

// programMark stands between the name of a program and the host that it runs on.
const programMark = "@"

// ProgramOn is what a provider calls a published component's program, so that what it
// writes tells the host it runs on: client-go gives the name of the program as the
// writer of a field, which metadata.managedFields keeps, and all instances of a
// component have the same one otherwise.
func ProgramOn(program, host string) string { return program + programMark + host }

// ParseProgram undoes ProgramOn; ok is false for anything else.
func ParseProgram(name string) (program, host string, ok bool) {
	program, host, ok = strings.Cut(name, programMark)
	return program, host, ok && program != "" && host != ""
}

// Host of the holder of a Lease: an identity is the host's name, an underscore and
// something unique.
func Host(holder string) string {
	host, _, _ := strings.Cut(holder, "_")
	return host
}

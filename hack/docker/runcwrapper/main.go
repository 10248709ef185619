// Runcwrapper is a container runtime for hosts whose bounding set lacks a
// capability, most often CAP_SYS_RESOURCE: there runc can start no privileged
// container, because runc fails to give it what the host lacks. The wrapper takes what
// the host lacks out of what runc is asked for, and becomes runc.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "runcwrapper:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	missing, err := lacking()
	if err != nil {
		return err
	}
	if path, nested := processFile(args); path != "" && len(missing) > 0 {
		if err := permitFile(path, nested, missing); err != nil {
			return err
		}
	}
	runc, err := exec.LookPath("runc")
	if err != nil {
		return fmt.Errorf("runc is not there: install it: %w", err)
	}
	return syscall.Exec(runc, append([]string{"runc"}, args...), os.Environ())
}

// valued are the flags before runc's command that take a value.
var valued = map[string]bool{"log": true, "log-format": true, "root": true, "criu": true, "rootless": true}

// processFile is the file that says what process runc is to start, and whether
// the process is only a part of it; empty where it is to start none.
func processFile(args []string) (path string, nested bool) {
	args = afterGlobals(args)
	if len(args) == 0 {
		return "", false
	}
	switch args[0] {
	case "create", "run", "restore":
		// Without the flag the bundle is the working folder, for runc too.
		return filepath.Join(flagValue(args[1:], "bundle", "b"), "config.json"), true
	case "exec":
		return flagValue(args[1:], "process", "p"), false
	}
	return "", false
}

// afterGlobals leaves the flags out that stand before the command.
func afterGlobals(args []string) []string {
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name, _, joined := strings.Cut(strings.TrimLeft(args[0], "-"), "=")
		args = args[1:]
		if valued[name] && !joined && len(args) > 0 {
			args = args[1:]
		}
	}
	return args
}

// flagValue finds a flag by its long or short name.
func flagValue(args []string, long, short string) string {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, value, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name != long && name != short {
			continue
		}
		if joined {
			return value
		}
		if i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/command"
)

// commands gives the command lines of all documents.
func commands(t *testing.T) (root string, all []Command) {
	t.Helper()
	root, documents := repository(t)
	for _, d := range documents {
		of, err := d.Commands()
		if err != nil {
			t.Error(err)
		}
		all = append(all, of...)
	}
	if len(all) < 50 {
		t.Fatalf("there are only %d commands in the documents", len(all))
	}
	return root, all
}

// of says which program a command line runs, without the folder that it is built into.
func (c Command) of() string { return strings.TrimPrefix(c.Words[0], "bin/") }

// Every command line in a document names a program, subcommand, target, flag and file that
// there is.
func TestCommands_NameWhatThereIs(t *testing.T) {
	root, all := commands(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		var wrong string
		switch program := c.of(); {
		case program == "evenkeel":
			wrong = evenkeelProblem(c.Words[1:])
		case program == "refplane":
			// A test beside that command checks it.
		case program == "make":
			wrong = makeProblem(string(makefile), c.Words[1:])
		case program == "go":
			wrong = goProblem(root, c.Words[1:])
		case strings.HasPrefix(program, "hack/"), strings.HasPrefix(program, ".ci/"):
			if info, err := os.Stat(filepath.Join(root, program)); err != nil || info.Mode()&0o111 == 0 {
				wrong = "is no script that can be run"
			}
		case slices.Contains([]string{"kubectl", "git", "cp"}, program):
		default:
			wrong = "runs a program that no document should need; add it to this test if that is meant"
		}
		if wrong == "" {
			wrong = fileProblem(root, c)
		}
		if wrong != "" {
			t.Errorf("%s: `%s` %s", c.Where, strings.Join(c.Words, " "), wrong)
		}
	}
}

var usage = regexp.MustCompile(`(?m)^Usage:\n  evenkeel ?([a-z ]*)`)

// evenkeelProblem has the command itself say whether it knows subcommand and flags: with
// --help it reads all flags before it prints how it is used, and does nothing else.
func evenkeelProblem(args []string) string {
	var stdout, stderr bytes.Buffer
	if code := command.Main(append(slices.Clone(args), "--help"), &stdout, &stderr); code != 0 {
		return "is refused: " + stderr.String()
	}
	var path []string
	for _, arg := range args {
		if !regexp.MustCompile(`^[a-z]+$`).MatchString(arg) {
			break
		}
		path = append(path, arg)
	}
	shown := usage.FindStringSubmatch(stdout.String())
	if shown == nil {
		return "does not say how it is used"
	}
	known := strings.Fields(shown[1])
	// A command that has subcommands prints those where it does not know what follows.
	more := strings.Contains(stdout.String(), "Available Commands:") && len(path) > len(known)
	if more || len(path) > 0 && (len(known) == 0 || known[0] != path[0]) {
		return "names no subcommand that there is"
	}
	return ""
}

var variable = regexp.MustCompile(`^([A-Z_]+)=`)

func makeProblem(makefile string, args []string) string {
	for _, arg := range args {
		if set := variable.FindStringSubmatch(arg); set != nil {
			if !strings.Contains(makefile, "$("+set[1]+")") && !strings.Contains(makefile, "$(or $("+set[1]+")") && !strings.Contains(makefile, "$(if $("+set[1]+")") {
				return "sets " + set[1] + ", which the Makefile does not read"
			}
			continue
		}
		if !slices.Contains(targets(makefile), arg) {
			return "names no target of the Makefile: " + arg
		}
	}
	return ""
}

var target = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):(?:[^=]|$)`)

func targets(makefile string) []string {
	var all []string
	for _, match := range target.FindAllStringSubmatch(makefile, -1) {
		if !slices.Contains(all, match[1]) {
			all = append(all, match[1])
		}
	}
	return all
}

// goProblem says what is wrong with the packages, tests and flags of a go command.
func goProblem(root string, args []string) string {
	for i, arg := range args {
		if path, local := strings.CutPrefix(arg, "./"); local {
			if _, err := os.Stat(filepath.Join(root, strings.TrimSuffix(path, "/..."))); err != nil {
				return "names no package: " + arg
			}
		}
		if arg == "-run" && i+1 < len(args) && args[i+1] != "^$" {
			name := strings.Trim(args[i+1], "^$")
			if !sourceHas(root, args, "func "+name) {
				return "names no test: " + name
			}
		}
	}
	if args[0] == "run" && len(args) > 1 {
		for _, arg := range args[2:] {
			name, is := strings.CutPrefix(arg, "-")
			if name = strings.TrimPrefix(name, "-"); is && !sourceHas(root, args[1:2], `"`+name+`"`) {
				return "has no flag " + arg
			}
		}
	}
	return ""
}

// sourceHas is whether the Go files of one of the packages hold the text.
func sourceHas(root string, packages []string, text string) bool {
	for _, arg := range packages {
		path, local := strings.CutPrefix(arg, "./")
		if !local {
			continue
		}
		files, err := filepath.Glob(filepath.Join(root, path, "*.go"))
		if err != nil {
			return false
		}
		for _, file := range files {
			if source, err := os.ReadFile(file); err == nil && strings.Contains(string(source), text) {
				return true
			}
		}
	}
	return false
}

// fileProblem says which file of the repository a command names that is not there.
func fileProblem(root string, c Command) string {
	for _, arg := range c.Words[1:] {
		if _, value, set := strings.Cut(arg, "="); set {
			arg = value
		}
		top, _, inside := strings.Cut(arg, "/")
		if !inside || placeholder(arg) || !slices.Contains([]string{"clusters", "fixtures", "reports", "suites", "hack", "pkg", "impl"}, top) {
			continue
		}
		if found, err := filepath.Glob(filepath.Join(root, arg)); err != nil || len(found) == 0 {
			return "names " + arg + ", which is not there"
		}
	}
	return ""
}

// hack/README.md tells of every target.
func TestMakeTargets_AreDocumented(t *testing.T) {
	root, _ := repository(t)
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	text := document(t, "hack/README.md").Text
	for _, name := range targets(string(makefile)) {
		if name != "all" && !strings.Contains(text, "`make "+name+"`") {
			t.Errorf("hack/README.md does not tell of make %s", name)
		}
	}
}

func TestProblems_AreFound(t *testing.T) {
	root, _ := repository(t)
	for _, args := range [][]string{{"run", "--no-such-flag"}, {"nothing"}, {"cluster", "nothing"}, {"run", "--seed", "x"}} {
		if evenkeelProblem(args) == "" {
			t.Errorf("evenkeel %q has no problem", args)
		}
	}
	for _, args := range [][]string{{"run", "--seed", "7"}, {"cluster", "down", "theirs"}, {}} {
		if wrong := evenkeelProblem(args); wrong != "" {
			t.Errorf("evenkeel %q %s", args, wrong)
		}
	}
	const makefile = "x: y\n\techo $(or $(N),1)\n"
	if makeProblem(makefile, []string{"x", "N=2"}) != "" || makeProblem(makefile, []string{"y"}) == "" || makeProblem(makefile, []string{"x", "M=2"}) == "" {
		t.Error("make is not checked")
	}
	if goProblem(root, []string{"run", "./hack/external", "--cluster", "a"}) != "" || goProblem(root, []string{"run", "./hack/external", "--no-such-flag", "a"}) == "" || goProblem(root, []string{"test", "./hack/nothing"}) == "" {
		t.Error("go is not checked")
	}
	if fileProblem(root, Command{Words: []string{"x", "--a=clusters/nothing.yaml"}}) == "" || fileProblem(root, Command{Words: []string{"x", "reports/kubernetes/*"}}) != "" {
		t.Error("files are not checked")
	}
}

package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/hack/docs"
)

// Every command line of refplane in the documents names a subcommand and flags that there
// are, and has as many arguments as it takes.
func TestDocuments_NameCommandsThatThereAre(t *testing.T) {
	root, err := docs.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	all, err := docs.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	refplane := &cobra.Command{Use: "refplane"}
	refplane.AddCommand(migrateCommand(), releasesCommand(), defectsCommand())
	found := 0
	for _, d := range all {
		commands, err := d.Commands()
		if err != nil {
			t.Error(err)
		}
		for _, c := range commands {
			if strings.TrimPrefix(c.Words[0], "bin/") != "refplane" {
				continue
			}
			found++
			named, rest, err := refplane.Find(slices.Clone(c.Words[1:]))
			if err == nil && named == refplane {
				t.Errorf("%s: %q names no subcommand", c.Where, c.Words)
				continue
			}
			if err == nil {
				err = named.ParseFlags(rest)
			}
			if err == nil {
				err = named.ValidateArgs(named.Flags().Args())
			}
			if err != nil {
				t.Errorf("%s: %q: %v", c.Where, c.Words, err)
			}
		}
	}
	if found == 0 {
		t.Error("no document has a command of refplane")
	}
}

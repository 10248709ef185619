package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/release"
)

// component makes the command of a component: it takes flags and no arguments,
// and it must be given the required ones.
func component(name, short string, run func(*cobra.Command) error, required ...string) *cobra.Command {
	command := &cobra.Command{
		Use:   name,
		Short: short,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("%s takes flags only, not %q", name, args[0])
			}
			return nil
		},
		RunE: func(command *cobra.Command, _ []string) error {
			var missing []string
			for _, flag := range required {
				if !command.Flags().Changed(flag) {
					missing = append(missing, "--"+flag)
				}
			}
			if len(missing) > 0 {
				return fmt.Errorf("%s needs %s", name, strings.Join(missing, ", "))
			}
			return run(command)
		},
	}
	logging := flag.NewFlagSet(name, flag.ContinueOnError)
	klog.InitFlags(logging)
	command.Flags().AddGoFlag(logging.Lookup("v"))
	return command
}

// played are the flags that say what a component plays.
type played struct {
	release              string
	emulated, compatible string
	defects              []string
}

func (p *played) add(command *cobra.Command) {
	command.Flags().StringVar(&p.release, "release", "", "release to play; `refplane releases` lists them")
	command.Flags().StringVar(&p.emulated, "emulated-version", "", "release whose behavior the component has: what it serves and stores, and its features (default that of --release)")
	command.Flags().StringVar(&p.compatible, "min-compatibility-version", "", "oldest release that has to be able to read what is stored (default the one before the emulated one)")
	addDefects(command, &p.defects)
}

func addDefects(command *cobra.Command, planted *[]string) {
	command.Flags().StringArrayVar(planted, "defect", nil, "plant this defect; `refplane defects` lists them; may be repeated")
}

func (p *played) parse() (release.Release, defects.Set, error) {
	r, err := release.Lookup(p.release)
	if err != nil {
		return release.Release{}, nil, err
	}
	set, err := defects.Parse(p.defects)
	if err != nil {
		return release.Release{}, nil, err
	}
	r = r.With(set)
	r, err = emulating(r, set)(p.emulated, p.compatible)
	return r, set, err
}

package cluster

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func newClean(streams Streams, registry cluster.Registry) *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:   "clean [NAME...]",
		Short: "Remove the processes, containers and files that killed runs left",
		Long: `Remove the processes, containers, networks and files of clusters whose owner is dead.

A cluster whose owner lives, such as that of a run, is left alone unless it is
named or --all is given; then its owner is ended too.`,
		Args: usage(func(_ *cobra.Command, args []string) error {
			if all && len(args) > 0 {
				return fmt.Errorf("--all and names exclude each other")
			}
			return nil
		}),
		RunE: func(command *cobra.Command, args []string) error {
			return clean(command.Context(), streams.Out, registry, all, args)
		},
	}
	command.Flags().BoolVar(&all, "all", false, "also remove clusters whose owner lives, and end the owner")
	return command
}

func clean(ctx context.Context, out io.Writer, registry cluster.Registry, all bool, names []string) error {
	root, err := state.Root()
	if err != nil {
		return err
	}
	var removed []state.Removed
	switch {
	case all:
		removed, err = state.CleanAll(ctx, root, elsewhere(registry))
	case len(names) > 0:
		for _, name := range names {
			var some []state.Removed
			if some, err = state.CleanNamed(ctx, root, name, elsewhere(registry)); err == nil && len(some) == 0 {
				err = fmt.Errorf("there is no cluster %s; `evenkeel cluster list` shows what there is", name)
			}
			removed = append(removed, some...)
			if err != nil {
				break
			}
		}
	default:
		removed, err = state.CleanDead(ctx, root, elsewhere(registry))
	}
	for _, one := range removed {
		printRemoved(out, one)
	}
	if err != nil {
		return err
	}
	unknown := 0
	if len(names) == 0 {
		if unknown, err = cleanUnknown(ctx, out, registry); err != nil {
			return err
		}
	}
	if len(removed)+unknown == 0 {
		fmt.Fprintln(out, "nothing to clean")
	}
	if left, _ := state.List(root); len(left) > 0 {
		fmt.Fprintf(out, "left alone because they are in use (see `evenkeel cluster list`): %d\n", len(left))
	}
	return nil
}

// elsewhere gives what removes the things that a cluster's provider has of it
// beside processes and files.
func elsewhere(registry cluster.Registry) func(context.Context, state.Record) (int, error) {
	return func(ctx context.Context, record state.Record) (int, error) {
		// A provider that this program does not have leaves nothing that it could remove.
		provider, err := registry.Lookup(record.Provider)
		if cleaner, ok := provider.(cluster.Cleaner); err == nil && ok {
			return cleaner.Clean(ctx, record.ID)
		}
		return 0, nil
	}
}

// cleanUnknown removes what providers have of clusters whose owners are dead
// and whose records are gone.
func cleanUnknown(ctx context.Context, out io.Writer, registry cluster.Registry) (int, error) {
	removed := 0
	for _, provider := range registry {
		cleaner, ok := provider.(cluster.Cleaner)
		if !ok {
			continue
		}
		ids, err := cleaner.Leftovers(ctx)
		if err != nil {
			return removed, err
		}
		for _, id := range ids {
			count, err := cleaner.Clean(ctx, id)
			if err != nil {
				return removed, err
			}
			removed++
			fmt.Fprintf(out, "removed cluster %s, of which nothing was on record: %d things at the provider %s\n", id, count, provider.Name())
		}
	}
	return removed, nil
}

func printRemoved(out io.Writer, removed state.Removed) {
	owner := ""
	if removed.OwnerEnded {
		owner = "ended its owner, "
	}
	others := ""
	if removed.Others > 0 {
		others = fmt.Sprintf("removed %d containers and networks, ", removed.Others)
	}
	fmt.Fprintf(out, "removed cluster %s: %skilled %d processes that were left, %sdeleted %s\n", removed.ID, owner, removed.Processes, others, removed.Dir)
}

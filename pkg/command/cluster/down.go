package cluster

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

func newDown(streams Streams, registry cluster.Registry) *cobra.Command {
	return &cobra.Command{
		Use:   "down [NAME]",
		Short: "End a cluster that `cluster up` made and remove all of it",
		Args:  usage(cobra.MaximumNArgs(1)),
		RunE: func(command *cobra.Command, args []string) error {
			return down(command.Context(), streams, registry, strings.Join(args, ""))
		},
	}
}

func down(ctx context.Context, streams Streams, registry cluster.Registry, name string) error {
	root, err := state.Root()
	if err != nil {
		return err
	}
	entries, err := state.List(root)
	if len(entries) == 0 && err != nil {
		return err
	}
	chosen, err := choose(entries, name)
	if err != nil {
		return err
	}
	for _, entry := range chosen {
		removed, err := state.Remove(ctx, entry, elsewhere(registry))
		if err != nil {
			return err
		}
		printRemoved(streams.Out, removed)
	}
	return nil
}

// choose selects the clusters to end. The name may be left out where only one
// cluster can be meant. A run's cluster is never chosen while the run lives:
// it would judge a control plane that vanished under it.
func choose(entries []*state.Entry, name string) ([]*state.Entry, error) {
	var chosen []*state.Entry
	var names []string
	for _, entry := range entries {
		record := entry.Record()
		isOurs := record.Owner.Purpose == PurposeUp
		if isOurs {
			names = append(names, record.Name)
		}
		switch {
		case name == "" && !isOurs, name != "" && record.Name != name && record.ID != name:
			continue
		case !isOurs && record.Owner.Alive():
			return nil, fmt.Errorf("cluster %s belongs to a live `evenkeel %s` (process %d): end that, or force it with `evenkeel cluster clean %s`",
				record.Name, record.Owner.Purpose, record.Owner.PID, record.ID)
		}
		chosen = append(chosen, entry)
	}
	switch {
	case len(chosen) == 0 && name == "":
		return nil, fmt.Errorf("no cluster is up")
	case len(chosen) == 0:
		return nil, fmt.Errorf("there is no cluster %s; `evenkeel cluster list` shows what there is", name)
	case len(chosen) > 1 && name == "":
		return nil, fmt.Errorf("several clusters are up, name one of: %s", strings.Join(names, ", "))
	}
	return chosen, nil
}

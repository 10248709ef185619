package cluster

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster/state"
)

// askBound is how long a member may take to answer whether it is up.
const askBound = 2 * time.Second

func newList(streams Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the clusters on this machine",
		Args:  usage(cobra.NoArgs),
		RunE: func(command *cobra.Command, _ []string) error {
			return list(command.Context(), streams)
		},
	}
}

func list(ctx context.Context, streams Streams) error {
	root, err := state.Root()
	if err != nil {
		return err
	}
	entries, err := state.List(root)
	if err != nil {
		fmt.Fprintf(streams.Err, "warning: %v; `evenkeel cluster clean --all` removes it\n", err)
	}
	if len(entries) == 0 {
		fmt.Fprintln(streams.Out, "no clusters")
		return nil
	}
	table := tabwriter.NewWriter(streams.Out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "NAME\tID\tTOPOLOGY\tMEMBERS UP\tAGE\tOWNER")
	for _, entry := range entries {
		record := entry.Record()
		owner := fmt.Sprintf("%s (process %d)", record.Owner.Purpose, record.Owner.PID)
		if !record.Owner.Alive() {
			owner = "dead, see `evenkeel cluster clean`"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", record.Name, record.ID, record.Topology,
			membersUp(ctx, record), len(record.Members), duration.HumanDuration(time.Since(record.Created)), owner)
	}
	return table.Flush()
}

// membersUp counts the members whose API server is ready.
func membersUp(ctx context.Context, record state.Record) int {
	config, err := clientcmd.LoadFromFile(record.Kubeconfig)
	if err != nil {
		return 0 // not written yet, or removed already
	}
	ctx, cancel := context.WithTimeout(ctx, askBound)
	defer cancel()
	var up atomic.Int64
	var asking sync.WaitGroup
	for _, member := range record.Members {
		client, err := clientcmd.NewNonInteractiveClientConfig(*config, member.Name, nil, nil).ClientConfig()
		if err != nil {
			continue
		}
		asking.Go(func() {
			if ready(ctx, client) {
				up.Add(1)
			}
		})
	}
	asking.Wait()
	return int(up.Load())
}

func ready(ctx context.Context, config *rest.Config) bool {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return false
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, config.Host+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := client.Do(request)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

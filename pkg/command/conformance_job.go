package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/clusters"
	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/providers"
	"github.com/evenkeel/evenkeel/pkg/conformance"
)

// jobFile is the manifest that `evenkeel conformance job` writes.
const jobFile = "job.yaml"

// indexVariable is where Kubernetes tells the Pod of an Indexed Job its index.
const indexVariable = "JOB_COMPLETION_INDEX"

func newConformanceJob() *cobra.Command {
	var flags planFlags
	var o conformance.JobOptions
	var out string
	cmd := &cobra.Command{
		Use:   "job",
		Short: "Plan the runs, and write an Indexed Job of Kubernetes that plays them",
		Long: `Job writes the plan and ` + jobFile + `: a ConfigMap with plan and topology, and an Indexed Job
(batch/v1) of which the Pod with index i plays line i+1 and puts its bundles, by digest,
on a volume or by HTTP PUT to a server. ` + "`evenkeel conformance collect --plan`" + ` makes the report.

The image must have this very evenkeel as ` + "`evenkeel`" + ` in its PATH, and what the topology takes
beside it. Requests are equal to limits. Only a Pod without a verdict is played again, at
most --tries times: one that ends with the status 3, or that was killed. A disrupted Pod
does not count. A Pod whose line shows a requirement broken or stays open fails its index.`,
		Example: `  evenkeel conformance job --topology theirs.yaml --confidence 95 --rate 10% --image registry.example/evenkeel:v1 --claim bundles --out _out/job
  kubectl apply -f _out/job/job.yaml
  evenkeel conformance collect --plan _out/job/plan.yaml --store /mnt/bundles --out _out/theirs`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if out == "" {
				return fmt.Errorf("name the folder for plan and manifest: --out DIR")
			}
			plan, err := flags.plan(cmd.Context())
			if err != nil {
				return err
			}
			if o.Topology, err = clusters.Read(flags.request.Topology); err != nil {
				return fmt.Errorf("the topology cannot be read: %w", err)
			}
			manifest, err := conformance.Job(plan, o)
			if err != nil {
				return err
			}
			planned, err := plan.YAML()
			if err != nil {
				return err
			}
			if err := os.MkdirAll(out, 0o755); err != nil {
				return fmt.Errorf("make the folder for plan and manifest: %w", err)
			}
			for name, content := range map[string][]byte{conformance.PlanFile: planned, jobFile: manifest} {
				if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
					return fmt.Errorf("write %s: %w", name, err)
				}
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d runs are planned, one for each index: %s\n", len(plan.Lines), filepath.Join(out, jobFile))
			return err
		},
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "evenkeel", "name of the Job and of its ConfigMap")
	f.StringVar(&o.Namespace, "namespace", "", "namespace of both (default the one of kubectl)")
	f.StringVar(&o.Image, "image", "", "image that has evenkeel and what the topology takes")
	f.StringVar(&o.Store, "store", "", "URL that Pods put their bundles to")
	f.StringVar(&o.Claim, "claim", "", "PersistentVolumeClaim, shared by all Pods, for their bundles")
	f.IntVar(&o.Parallel, "parallel", 10, "how many Pods run at a time")
	f.StringVar(&o.CPU, "cpu", "2", "processors of each Pod, as request and limit")
	f.StringVar(&o.Memory, "memory", "4Gi", "memory of each Pod, as request and limit")
	f.StringVar(&o.Queue, "queue", "", "queue of Kueue that admits the Job")
	f.StringVar(&out, "out", "", "folder for plan and manifest")
	return cmd
}

func newConformanceLine() *cobra.Command {
	var planFile, topology, where, out string
	var line int
	cmd := &cobra.Command{
		Use:   "line",
		Short: "Play one line of a plan and put its bundles into a store, as a Pod of a Job does",
		Long: `Line plays one line of a plan. Without --line it is the index of the Pod of an Indexed
Job, plus one (` + indexVariable + `). A line that the store has already is not played again.

Exit status: that of the run: 0 all that it judges is kept, 1 something is broken, 2
something stayed open in all tries, 3 no try has left a verdict.`,
		Args: none,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if planFile == "" || where == "" || out == "" {
				return fmt.Errorf("name plan, store and folder: --plan, --store and --out")
			}
			if line == 0 {
				index, err := strconv.Atoi(os.Getenv(indexVariable))
				if err != nil {
					return fmt.Errorf("name the line to play: --line N, or %s in the environment", indexVariable)
				}
				line = index + 1
			}
			plan, err := conformance.ReadPlan(planFile)
			if err != nil {
				return err
			}
			store, err := conformance.NewStore(where)
			if err != nil {
				return err
			}
			options, err := playOptions(cmd, out)
			if err != nil {
				return err
			}
			options.Topology = topology
			record, err := conformance.PlayLine(cmd.Context(), plan, line, store, options)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "line %d of the plan: %s after %d tries\n", line, record.Verdict, len(record.Tries))
			if record.Passed() {
				return nil
			}
			return verdictStatus(record.Verdict)
		},
	}
	f := cmd.Flags()
	f.StringVar(&planFile, "plan", "", "the plan, which may be compressed with gzip")
	f.StringVar(&topology, "topology", "", "the plan's topology, where it is in another file here")
	f.IntVar(&line, "line", 0, "the line to play, from 1 (default the index of the Pod, plus one)")
	f.StringVar(&where, "store", "", "folder or URL to put bundles and the record of the line to")
	f.StringVar(&out, "out", "", "folder to play in")
	return cmd
}

// playOptions are those of playing in a folder with this program.
func playOptions(cmd *cobra.Command, dir string) (conformance.Options, error) {
	program, err := os.Executable()
	if err != nil {
		return conformance.Options{}, fmt.Errorf("find this program, which plays each run: %w", err)
	}
	cost, err := costs()
	if err != nil {
		return conformance.Options{}, err
	}
	view := conformance.NewConsole(cmd.OutOrStdout(), clock.RealClock{}, cost)
	return conformance.Options{
		Dir: dir, Player: conformance.Child{Program: program}, Clock: clock.RealClock{}, View: view, Idle: conformance.MachineIdle,
		Turns: func(topology string) (conformance.Turn, error) { return turnsOn(topology, dir, view.Say) },
	}, nil
}

// turnsOn gives the turns of a cluster that others may use at the same time; nil for a cluster
// that is made for a run.
func turnsOn(file, dir string, say func(string)) (conformance.Turn, error) {
	topology, err := cluster.LoadTopology(file)
	if err != nil {
		return nil, err
	}
	provider, err := providers.All().Lookup(topology.Spec.Provider)
	if err != nil {
		return nil, err
	}
	shared, ok := provider.(cluster.Shared)
	if !ok {
		return nil, nil
	}
	access, err := shared.Access(topology)
	if err != nil {
		return nil, err
	}
	return conformance.NewTurn(access, dir, clock.RealClock{}, say)
}

// collectStore makes the report of what the Pods of a Job have put into a store.
func collectStore(cmd *cobra.Command, planFile, where, out string) (*conformance.Report, error) {
	if where == "" {
		return nil, errors.New("name where the Pods have put their bundles: --store")
	}
	plan, err := conformance.ReadPlan(planFile)
	if err != nil {
		return nil, err
	}
	store, err := conformance.NewStore(where)
	if err != nil {
		return nil, err
	}
	return conformance.CollectStore(cmd.Context(), plan, store, out)
}

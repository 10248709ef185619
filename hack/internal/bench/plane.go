package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/local"
)

// stopBound is how long removing a cluster may take after an interrupt.
const stopBound = time.Minute

var registry = cluster.Registry{local.Provider{}}

// Plane is a control plane of local processes that can be brought up.
type Plane struct {
	// Title is its name in reports.
	Title    string
	Topology *cluster.Topology
	// Off are features that are disabled in all its members.
	Off []cluster.Feature
}

// Running is a control plane that Prepare has made. It runs after Up.
type Running struct {
	cluster.Cluster
	// Member is the name of the first one.
	Member string

	title string
}

// Prepare makes a control plane without starting it. It fails if something that the
// control plane needs is missing. Observer may be nil. The caller must call Remove.
func (p Plane) Prepare(ctx context.Context, observer cluster.Observer) (*Running, error) {
	// A folder for logs inside the cluster's folder would count as a cluster.
	logs, err := os.MkdirTemp("", "bench-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for logs: %w", err)
	}
	made, err := registry.New(ctx, p.Topology, cluster.Options{Owner: "bench", LogDir: logs, Observer: observer})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(logs))
	}
	r := &Running{Cluster: made, Member: made.Members()[0].Name, title: p.Title}
	if err := r.switchOff(p.Off); err != nil {
		return nil, errors.Join(err, r.Remove(ctx))
	}
	return r, nil
}

func (r *Running) switchOff(off []cluster.Feature) error {
	if len(off) == 0 {
		return nil
	}
	switches, ok := r.Cluster.(cluster.FeatureSwitcher)
	if !ok {
		return fmt.Errorf("%s cannot be without %v", r.title, off)
	}
	var errs []error
	for _, member := range r.Members() {
		errs = append(errs, switches.SwitchOff(member.Name, off))
	}
	return errors.Join(errs...)
}

// Remove stops the control plane and removes its files and logs.
func (r *Running) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBound)
	defer cancel()
	if err := errors.Join(r.Stop(ctx), os.RemoveAll(r.LogDir())); err != nil {
		return fmt.Errorf("remove %s: %w", r.title, err)
	}
	return nil
}

// Up brings a plane up. down removes it, and reports if it cannot.
func (p Plane) Up(ctx context.Context, observer cluster.Observer) (r *Running, down func(), err error) {
	if r, err = p.Prepare(ctx, observer); err != nil {
		return nil, nil, err
	}
	down = func() {
		if err := r.Remove(ctx); err != nil {
			Progress("%v", err)
		}
	}
	if err := r.Start(ctx); err != nil {
		down()
		return nil, nil, err
	}
	return r, down, nil
}

// Check makes sure that all planes can be brought up, so that a benchmark does not fail
// half way because something is missing.
func Check(ctx context.Context, planes []Plane) error {
	for _, p := range planes {
		r, err := p.Prepare(ctx, nil)
		if err != nil {
			return err
		}
		if err := r.Remove(ctx); err != nil {
			return err
		}
	}
	return nil
}

// PID is the process of a component of a member.
func (r *Running) PID(member string, component cluster.Component) (int, error) {
	process, ok := r.Process(member, component)
	if !ok {
		return 0, fmt.Errorf("the %s of %s does not run", component, member)
	}
	return process.PID, nil
}

// Newest gives the newest release of a distribution that the local provider can run.
func Newest(ctx context.Context, distribution string) (string, error) {
	releases, err := local.Provider{}.Releases(ctx, distribution)
	if err != nil || len(releases) == 0 {
		return "", fmt.Errorf("list the releases of the distribution %s: %w", distribution, err)
	}
	return releases[len(releases)-1], nil
}

package external

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

// What a hook is told, by these variables of its environment.
const (
	variableMember    = "EVENKEEL_MEMBER"
	variableHost      = "EVENKEEL_HOST"
	variableHook      = "EVENKEEL_HOOK"
	variableComponent = "EVENKEEL_COMPONENT"
	variableRelease   = "EVENKEEL_RELEASE"
	variableFrom      = "EVENKEEL_FROM"
)

// task is what a hook is asked to do.
type task struct {
	hook string
	// component is empty where it is all of the member.
	component cluster.Component
	// release is the one to take the member to; empty means its own.
	release string
}

// Lacks implements cluster.ExternallyManaged.
func (c *external) Lacks(means cluster.Means) string {
	switch means {
	case cluster.MeansEtcd:
		for _, m := range c.members {
			if _, through := m.throughAgent(); m.etcd == nil && !through {
				return fmt.Sprintf("the topology names no etcd of %s that may be read", m.name)
			}
		}
		return ""
	case cluster.MeansProcesses:
		if c.spec.Agent == "" {
			return "only of an API server it shows that it was hit"
		}
		return ""
	case cluster.MeansAddress:
		if c.spec.Address == "" {
			return "the topology names no spec.external.address by which its API servers reach this machine"
		}
		return ""
	case cluster.MeansPeerDiscovery:
		if !c.spec.PeerDiscovery {
			return "the topology does not say that API servers tell of what their peers host (spec.external.peerDiscovery)"
		}
		return ""
	case cluster.MeansPolicies:
		if !c.allowed {
			return "policies that deny writes are not made in an external cluster without --allow-disruption"
		}
		return ""
	case cluster.MeansTraffic, cluster.MeansControlPlane:
		return c.lacksTraffic(means)
	case cluster.MeansStopComponent: // as an operation
	}
	return c.lacksOperation(means)
}

// errNoLeave is that the user has not allowed to disrupt the cluster.
var errNoLeave = errors.New("nothing disruptive is done to an external cluster without leave: give it with --allow-disruption")

// may is an error where a hook may not or cannot be run.
func (c *external) may(hook string) error {
	if why := c.Lacks(cluster.Means(hook)); why != "" {
		return fmt.Errorf("%s: %w", why, cluster.ErrUnsupported)
	}
	if !c.allowed {
		return errNoLeave
	}
	return nil
}

// call runs a hook, or the commands of the driver, to the end. What they print goes to the
// member's log of hooks.
func (c *external) call(ctx context.Context, m *member, do task) error {
	if err := c.may(do.hook); err != nil {
		return err
	}
	path := filepath.Join(c.logDir, m.name+"-hooks.log")
	log, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, logMode)
	if err != nil {
		return fmt.Errorf("the log of hooks cannot be written: %w", err)
	}
	defer log.Close()
	// Neither the command nor its environment: both may hold what is secret.
	if _, err := fmt.Fprintf(log, "--- %s %s %s\n", time.Now().UTC().Format(time.RFC3339), c.actor(do.hook), do.component); err != nil {
		return fmt.Errorf("the log of hooks cannot be written: %w", err)
	}
	before, err := log.Seek(0, 2)
	if err != nil {
		return fmt.Errorf("the log of hooks cannot be written: %w", err)
	}

	todo := c.commands(m, do)
	ctx, cancel := context.WithTimeoutCause(ctx, todo.bound, fmt.Errorf("it took longer than %s", todo.bound))
	defer cancel()
	for _, line := range todo.lines {
		if err = c.run(ctx, line, todo, log); err != nil {
			break
		}
	}
	if err == nil {
		return nil
	}
	said := "it printed nothing"
	if now, seekErr := log.Seek(0, 2); seekErr == nil && now > before {
		said = fmt.Sprintf("its log %s ends with: %s", path, logtail.Read(path))
	}
	return fmt.Errorf("%s failed: %w; %s", c.actor(do.hook), err, said)
}

// run runs one command to its end.
func (c *external) run(ctx context.Context, line []string, as commands, log *os.File) error {
	command := exec.CommandContext(ctx, line[0], line[1:]...)
	command.Dir, command.Stdout, command.Stderr = c.folder, log, log
	command.Env = append(os.Environ(), as.told...)
	// A group of its own: an interrupt at the terminal is for the harness, which then
	// ends the command in good order, and all that it has started with it.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: !as.noTerminal, Setsid: as.noTerminal}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGTERM) }
	command.WaitDelay = hookGrace
	err := command.Run()
	if ctx.Err() != nil && command.Process != nil {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL) // it is no error if none is left
		err = context.Cause(ctx)
	}
	return err
}

// told is what a hook is told of what it is to do.
func (c *external) told(m *member, do task) []string {
	from := c.Release(m.name)
	release := do.release
	if release == "" {
		release = from
	}
	return []string{
		variableMember + "=" + m.name, variableHost + "=" + m.host, variableHook + "=" + do.hook,
		variableComponent + "=" + string(do.component), variableRelease + "=" + release, variableFrom + "=" + from,
	}
}

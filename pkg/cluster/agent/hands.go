//go:build linux

package agent

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// awayPrefix begins the name of a manifest that is away. The kubelet reads no file whose
// name begins with a dot, and a rename within the folder keeps the file as it is: its bytes,
// its owner, its mode.
const awayPrefix = ".evenkeel-away-"

// PacketFilter cuts a node off.
type PacketFilter interface {
	// Cut drops every packet but those of the loopback, of the addresses that are spared, and,
	// if ssh is set, of ssh to this node.
	Cut(spared []netip.Addr, ssh bool) error
	// Mend takes that back; it is no error if nothing is cut.
	Mend() error
	// Dropped counts the packets that a cut has dropped.
	Dropped() (int64, error)
}

// hands change the node, and take every change back. What has to be taken back is read from
// the node itself, so that an agent that was killed finds it when it runs again.
type hands struct {
	agent  *agent
	filter PacketFilter
	// holds is an error unless a run has the session.
	holds func(run string) error

	mu      sync.Mutex
	severed bool
	// before counts the packets that earlier cuts have dropped.
	before int64
	// retired is whether the agent ends: a request that was under way comes too late.
	retired bool
}

// allowedSignals are those that components may be sent.
var allowedSignals = []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGSTOP, syscall.SIGCONT}

// may is an error where a run may not change the node any more; it must be called with the lock
// held. A request can arrive in pieces: its session may have ended since it was let in.
func (h *hands) may(run string) error {
	if h.retired {
		return errNoSession
	}
	return h.holds(run)
}

// end signals a component for a run. Its static Pod is taken away first if that is wanted.
func (h *hands) end(run string, wanted end) (signaled, error) {
	of, err := h.agent.component(wanted.Component)
	if err != nil {
		return signaled{}, err
	}
	signal := syscall.Signal(wanted.Signal)
	if !slices.Contains(allowedSignals, signal) {
		return signaled{}, fmt.Errorf("the agent sends no %s", signal)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.may(run); err != nil {
		return signaled{}, err
	}
	if wanted.Away {
		if err := os.Rename(h.agent.manifest(of), h.away(of)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return signaled{}, fmt.Errorf("take the static Pod of the %s away: %w", of.Name, err)
		}
		if _, err := os.Stat(h.away(of)); err != nil {
			return signaled{}, fmt.Errorf("the %s is no static Pod in %s, so that it cannot be kept from starting again: %w", of.Name, h.agent.Manifests, cluster.ErrUnsupported)
		}
	}
	reached, err := h.agent.watcher.signal(wanted.Component, signal)
	return signaled{reached}, err
}

func (h *hands) away(of Component) string {
	return filepath.Join(h.agent.Manifests, awayPrefix+of.Pod+".yaml")
}

// restore puts the static Pod of a component back as it was.
func (h *hands) restore(wanted clearing) (struct{}, error) {
	of, err := h.agent.component(wanted.Component)
	if err != nil {
		return struct{}{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return struct{}{}, h.putBack(of)
}

// putBack must be called with the lock held. A manifest that has come in the place of the
// one that is away is its installer's, and stays.
func (h *hands) putBack(of Component) error {
	if _, err := os.Stat(h.away(of)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if _, err := os.Stat(h.agent.manifest(of)); err == nil {
		return os.Remove(h.away(of))
	}
	return os.Rename(h.away(of), h.agent.manifest(of))
}

// sever cuts the node off for a run, or takes that back.
func (h *hands) sever(run string, shape cluster.Shape, harness netip.Addr) error {
	if shape.Latency != 0 || shape.Jitter != 0 || shape.Only != "" {
		return fmt.Errorf("a node can be cut off in both directions, and not slowed down: %w", cluster.ErrUnsupported)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.may(run); err != nil {
		return err
	}
	if shape.Cut == h.severed {
		return nil
	}
	if !shape.Cut {
		return h.mend()
	}
	// Over a tunnel the harness comes from the node itself, and the tunnel is ssh.
	if err := h.filter.Cut([]netip.Addr{harness}, harness.IsLoopback()); err != nil {
		return errors.Join(fmt.Errorf("cut the node off: %w", err), h.filter.Mend())
	}
	h.severed = true
	return nil
}

// mend must be called with the lock held.
func (h *hands) mend() error {
	if h.severed {
		count, err := h.filter.Dropped()
		if err == nil {
			h.before += count
		}
	}
	if err := h.filter.Mend(); err != nil {
		return fmt.Errorf("take back that the node is cut off: %w", err)
	}
	h.severed = false
	return nil
}

// stats counts the packets that cuts have dropped.
func (h *hands) stats() (cluster.LinkStats, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	count := int64(0)
	if h.severed {
		var err error
		if count, err = h.filter.Dropped(); err != nil {
			return cluster.LinkStats{}, err
		}
	}
	return cluster.LinkStats{Withheld: h.before + count}, nil
}

// retire takes everything back, and changes nothing from then on.
func (h *hands) retire() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.retired = true
	return h.takeBack()
}

// release takes everything back for a run that has the session, and then ends the session: no
// request of the run that is under way changes the node afterwards.
func (h *hands) release(run string, end func()) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.holds(run); err != nil {
		return err
	}
	if err := h.takeBack(); err != nil {
		return err
	}
	end()
	return nil
}

// undo takes back what an agent that was killed has left.
func (h *hands) undo() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.takeBack()
}

// takeBack takes back whatever lasts of what an agent has done to the node: this one, or one that
// was killed. It tries all of it, whatever fails. It must be called with the lock held.
func (h *hands) takeBack() error {
	problems := []error{h.mend()}
	for _, of := range h.agent.Components {
		for _, process := range h.agent.watcher.running(of.Name) {
			// No component stops itself: what the kernel holds was paused.
			if stat, err := procfs.Read(process.PID); err == nil && stat.Stopped() {
				_, err := h.agent.watcher.signal(of.Name, syscall.SIGCONT)
				problems = append(problems, err)
				break
			}
		}
		if err := h.putBack(of); err != nil {
			problems = append(problems, fmt.Errorf("put the static Pod of the %s back: %w", of.Name, err))
		}
	}
	return errors.Join(problems...)
}

//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/procfs"
)

// countingFilter is a packet filter that only remembers.
type countingFilter struct {
	mu     sync.Mutex
	spared []netip.Addr
	ssh    bool
	cuts   int
	mended int
}

func (f *countingFilter) Cut(spared []netip.Addr, ssh bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spared, f.ssh, f.cuts = spared, ssh, f.cuts+1
	return nil
}

func (f *countingFilter) Mend() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mended++
	return nil
}

func (f *countingFilter) Dropped() (int64, error) { return 7, nil }

// installedAgent is a service that runs on a node of its own, which is a few folders.
type installedAgent struct {
	*Service
	t       *testing.T
	clock   *clocktesting.FakeClock
	filter  *countingFilter
	keys    *pki.Authority
	address string
	ended   chan error
	stop    context.CancelFunc
}

// configured is how an agent of a rung is told of a node, whose etcd is a program.
func configured(t *testing.T, rung cluster.Rung, program string) Installed {
	t.Helper()
	config := Installed{Rung: rung, Manifests: t.TempDir(), Logs: t.TempDir(), Components: []Component{etcdOf(program)}, Expires: time.Now().Add(time.Hour)}
	if err := os.WriteFile(filepath.Join(config.Manifests, "etcd.yaml"), []byte("kind: Pod\n"), 0o640); err != nil {
		t.Fatal(err)
	}
	return config
}

// serveInstalled runs an agent until the test ends.
func serveInstalled(t *testing.T, config Installed, change func(*Service)) *installedAgent {
	t.Helper()
	dir := t.TempDir()
	authority, err := pki.New(dir, "agents")
	if err != nil {
		t.Fatal(err)
	}
	pair, err := authority.Issue("tls", pki.Subject{Name: ServerName, Server: true, Hosts: []string{ServerName}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, SaltFile), []byte(strings.Repeat("s", saltLength)), 0o600); err != nil {
		t.Fatal(err)
	}
	if filepath.Base(pair.CertFile) != CertFile || filepath.Base(pair.KeyFile) != KeyFile {
		t.Fatalf("the keys are at %s and %s", pair.CertFile, pair.KeyFile)
	}
	a := &installedAgent{t: t, clock: clocktesting.NewFakeClock(time.Now()), filter: &countingFilter{}, keys: authority, ended: make(chan error, 1)}
	if a.Service, err = NewService(config, dir, "node-1", "v1", a.filter, a.clock); err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(a.Service)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	a.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	go func() { a.ended <- a.Run(ctx, listener, slog.New(slog.DiscardHandler)) }()
	t.Cleanup(cancel)
	return a
}

func (a *installedAgent) dial(ctx context.Context) (net.Conn, error) {
	return new(net.Dialer).DialContext(ctx, "tcp", a.address)
}

// secured is how a client of a common name shows itself.
func (a *installedAgent) secured(name string) *tls.Config {
	a.t.Helper()
	pair, err := a.keys.Issue("client-"+name, pki.Subject{Name: name})
	if err != nil {
		a.t.Fatal(err)
	}
	config, err := a.keys.ClientTLS(pair)
	if err != nil {
		a.t.Fatal(err)
	}
	config.ServerName = ServerName
	return config
}

func (a *installedAgent) client(run string) *Client {
	return NewRemoteClient("cp1", run, a.dial, a.secured(HarnessName))
}

// awaitEnd is how the agent ended.
func (a *installedAgent) awaitEnd() error {
	a.t.Helper()
	select {
	case err := <-a.ended:
		return err
	case <-time.After(10 * time.Second):
		a.t.Fatal("the agent does not end")
		return nil
	}
}

// awaitEndInTime has time pass, a hundred times as fast as it goes, until the agent ends.
func (a *installedAgent) awaitEndInTime() error {
	a.t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Second; {
		a.clock.Step(time.Second)
		select {
		case err := <-a.ended:
			return err
		case <-time.After(10 * time.Millisecond):
		}
	}
	a.t.Fatal("the agent does not end")
	return nil
}

func TestService_LetsInOnlyTheHarness(t *testing.T) {
	a := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil)
	if who, err := a.client("r1").Who(t.Context()); err != nil || who != (Who{Node: "node-1", Rung: cluster.RungDisrupt, Version: "v1"}) {
		t.Errorf("%+v, %v", who, err)
	}
	bare := a.secured(HarnessName)
	bare.Certificates = nil
	other := serveInstalled(t, configured(t, cluster.RungLook, "none"), nil).secured(HarnessName)
	stranger := a.secured(HarnessName)
	stranger.Certificates = other.Certificates
	for name, secured := range map[string]*tls.Config{
		"no certificate": bare, "a certificate of another installation": stranger, "the certificate of an agent": a.secured(ServerName),
	} {
		if who, err := NewRemoteClient("cp1", "r1", a.dial, secured).Who(t.Context()); err == nil {
			t.Errorf("with %s it answers %+v", name, who)
		}
	}
}

func TestService_ThatLooksChangesNothing(t *testing.T) {
	path, program := programNamed(t, "etcd")
	config := configured(t, cluster.RungLook, program)
	child := start(t, path)
	client := serveInstalled(t, config, nil).client("r1")
	if err := client.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	_, ended := client.End(t.Context(), cluster.Etcd, syscall.SIGKILL, true)
	for what, err := range map[string]error{
		"end": ended, "restore": client.Restore(t.Context(), cluster.Etcd), "cut": client.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}),
		"put": client.PutPod(t.Context(), cluster.Etcd, []byte("x")),
	} {
		if !errors.Is(err, cluster.ErrUnsupported) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if stat, err := procfs.Read(child.Process.Pid); err != nil || !stat.Alive() {
		t.Errorf("the process is %v, %v", stat, err)
	}
}

// Whatever the rung: manifests may hold secrets and do not leave the node, and none is
// written that the harness has made up.
func TestService_NeitherGivesNorTakesManifests(t *testing.T) {
	client := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil).client("r1")
	if err := client.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if raw, err := client.Manifest(t.Context(), cluster.Etcd); err == nil {
		t.Errorf("it gives the manifest %q", raw)
	}
	if err := client.PutPod(t.Context(), cluster.Etcd, []byte("kind: Pod\n")); err == nil {
		t.Error("it takes a manifest")
	}
}

func TestService_ObeysOneRunAtATime(t *testing.T) {
	a := serveInstalled(t, configured(t, cluster.RungDisrupt, "none"), nil)
	first, second := a.client("r1"), a.client("r2")
	if err := first.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err == nil || !strings.Contains(err.Error(), "no session") {
		t.Errorf("without a session: %v", err)
	}
	if err := first.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if err := second.Renew(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "the run r1 has the agent") {
		t.Errorf("a second run: %v", err)
	}
	if err := second.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err == nil || a.filter.cuts != 0 {
		t.Errorf("a second run cuts: %v", err)
	}
	if err := first.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err != nil {
		t.Fatal(err)
	}
	if stats, err := first.LinkStats(t.Context(), cluster.LinkNode); err != nil || stats.Withheld != 7 {
		t.Errorf("%+v, %v", stats, err)
	}
	// Here the harness comes from the loopback, as over a tunnel.
	if !a.filter.ssh || a.filter.spared[0] != netip.MustParseAddr("127.0.0.1") {
		t.Errorf("it spares %v, ssh %t", a.filter.spared, a.filter.ssh)
	}
	mended := a.filter.mended
	if err := first.Leave(t.Context()); err != nil || a.filter.mended != mended+1 {
		t.Errorf("%v, %+v", err, a.filter)
	}
	if err := second.Renew(t.Context(), nil); err != nil {
		t.Errorf("after the first has left: %v", err)
	}
}

// changedNode is a node whose etcd is paused, whose manifest is away and which is cut off.
func changedNode(t *testing.T, expires time.Duration) (*installedAgent, *child, string) {
	t.Helper()
	path, program := programNamed(t, "etcd")
	config := configured(t, cluster.RungDisrupt, program)
	child := start(t, path)
	config.Expires = time.Now().Add(expires)
	a := serveInstalled(t, config, nil)
	client := a.client("r1")
	if err := client.Renew(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if reached, err := client.End(t.Context(), cluster.Etcd, syscall.SIGSTOP, true); err != nil || len(reached) != 1 {
		t.Fatalf("reached %v, %v", reached, err)
	}
	if err := client.SetLink(t.Context(), cluster.LinkNode, cluster.Shape{Cut: true}); err != nil {
		t.Fatal(err)
	}
	awaitStopped(t, child.Process.Pid, true)
	manifest := filepath.Join(config.Manifests, "etcd.yaml")
	if _, err := os.Stat(manifest); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("the manifest is not away: %v", err)
	}
	return a, child, manifest
}

func awaitStopped(t *testing.T, pid int, stopped bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 5*time.Second, true, func(context.Context) (bool, error) {
		stat, err := procfs.Read(pid)
		return stat.Stopped() == stopped, err
	})
	if err != nil {
		t.Errorf("process %d: stopped is not %t: %v", pid, stopped, err)
	}
}

// asFound fails unless the node is as it was before.
func asFound(t *testing.T, a *installedAgent, child *child, manifest string) {
	t.Helper()
	awaitStopped(t, child.Process.Pid, false)
	raw, err := os.ReadFile(manifest)
	info, statErr := os.Stat(manifest)
	if err != nil || statErr != nil || string(raw) != "kind: Pod\n" || info.Mode().Perm() != 0o640 {
		t.Errorf("the manifest is %q, %v, %v", raw, info, errors.Join(err, statErr))
	}
	if left, err := os.ReadDir(filepath.Dir(manifest)); err != nil || len(left) != 1 {
		t.Errorf("the folder of manifests has %v, %v", left, err)
	}
	a.filter.mu.Lock()
	defer a.filter.mu.Unlock()
	if a.filter.mended < 2 {
		t.Errorf("the node is cut off still: %+v", a.filter)
	}
}

func TestService_TakesEverythingBackWhenItsHarnessFallsSilent(t *testing.T) {
	a, child, manifest := changedNode(t, time.Hour)
	// As long as the harness renews, nothing ends.
	for range 10 {
		a.clock.Step(RenewInterval)
		if err := a.client("r1").Renew(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	awaitStopped(t, child.Process.Pid, true)
	a.clock.Step(SilenceBound + silencePoll)
	if err := a.awaitEnd(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	asFound(t, a, child, manifest)
	if _, err := a.client("r1").Who(t.Context()); err == nil {
		t.Error("it answers after its end")
	}
}

func TestService_TakesEverythingBackAtTheEndOfItsLifetime(t *testing.T) {
	a, child, manifest := changedNode(t, time.Minute)
	a.clock.Step(time.Minute)
	if err := a.awaitEnd(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	asFound(t, a, child, manifest)
}

func TestService_TakesEverythingBackWhenItIsRemoved(t *testing.T) {
	a, child, manifest := changedNode(t, time.Hour)
	a.stop()
	if err := a.awaitEnd(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	asFound(t, a, child, manifest)
}

func TestService_TakesBackWhatAKilledAgentHasLeft(t *testing.T) {
	path, program := programNamed(t, "etcd")
	config := configured(t, cluster.RungDisrupt, program)
	child := start(t, path)
	manifest := filepath.Join(config.Manifests, "etcd.yaml")
	if err := os.Rename(manifest, filepath.Join(config.Manifests, awayPrefix+"etcd.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	awaitStopped(t, child.Process.Pid, true)
	a := serveInstalled(t, config, nil)
	if _, err := a.client("r1").Who(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.filter.mu.Lock()
	a.filter.mended++ // there is nothing else to mend afterwards
	a.filter.mu.Unlock()
	asFound(t, a, child, manifest)
}

// late is the body of a request that arrives when it is let go; read is closed when a handler waits
// for it.
type late struct {
	io.ReadCloser
	once sync.Once
	read chan struct{}
	let  chan struct{}
}

// Read implements io.Reader.
func (l *late) Read(p []byte) (int, error) {
	l.once.Do(func() { close(l.read) })
	<-l.let
	return l.ReadCloser.Read(p)
}

// A fault that the agent was asked for in time, and whose request arrives in whole only after the
// run has left, would stay for as long as the agent runs.
func TestService_DoesNothingForARunThatHasLeftMeanwhile(t *testing.T) {
	path, program := programNamed(t, "etcd")
	config := configured(t, cluster.RungDisrupt, program)
	child := start(t, path)
	for what, order := range map[string]func(context.Context, *Client) error{
		"an end": func(ctx context.Context, c *Client) error {
			_, err := c.End(ctx, cluster.Etcd, syscall.SIGSTOP, true)
			return err
		},
		"a cut": func(ctx context.Context, c *Client) error {
			return c.SetLink(ctx, cluster.LinkNode, cluster.Shape{Cut: true})
		},
	} {
		t.Run(what, func(t *testing.T) {
			body := &late{read: make(chan struct{}), let: make(chan struct{})}
			a := serveInstalled(t, config, func(s *Service) {
				s.wrap = func(next http.Handler) http.Handler {
					return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.Header.Get(runHeader) == "slow" {
							r.Header.Set(runHeader, "r1")
							body.ReadCloser, r.Body = r.Body, body
						}
						next.ServeHTTP(w, r)
					})
				}
			})
			client := a.client("r1")
			if err := client.Renew(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- order(t.Context(), a.client("slow")) }()
			<-body.read
			if err := client.Leave(t.Context()); err != nil {
				t.Fatal(err)
			}
			close(body.let)
			if err := <-ended; err == nil || !strings.Contains(err.Error(), "no session") {
				t.Errorf("the answer is %v", err)
			}
			if stat, err := procfs.Read(child.Process.Pid); err != nil || stat.Stopped() || a.filter.cuts != 0 {
				t.Errorf("the process is %v, %v, and the node was cut off %d times", stat, err, a.filter.cuts)
			}
		})
	}
}

// From the moment on at which the agent takes everything back it changes nothing.
func TestHands_ChangeNothingOnceTheyAreRetired(t *testing.T) {
	of, filter := etcdOf("none"), &countingFilter{}
	h := &hands{
		agent:  &agent{Config: Config{Manifests: t.TempDir(), Components: []Component{of}}, watcher: newWatcher([]Component{of})},
		filter: filter, holds: anyRun,
	}
	if err := h.retire(); err != nil {
		t.Fatal(err)
	}
	_, ended := h.end("r1", end{Component: cluster.Etcd, Signal: int(syscall.SIGSTOP)})
	cut := h.sever("r1", cluster.Shape{Cut: true}, netip.MustParseAddr("127.0.0.1"))
	if !errors.Is(ended, errNoSession) || !errors.Is(cut, errNoSession) || filter.cuts != 0 {
		t.Errorf("%v, %v, %+v", ended, cut, filter)
	}
}

// A run that leaves late takes nothing back of the run that came after it.
func TestHands_AreReleasedOnlyByTheRunThatHasThem(t *testing.T) {
	filter, left := &countingFilter{}, 0
	h := &hands{agent: &agent{watcher: newWatcher(nil)}, filter: filter, holds: func(run string) error {
		if run != "r2" {
			return errNoSession
		}
		return nil
	}}
	for run, want := range map[string]error{"r1": errNoSession, "r2": nil} {
		mended := filter.mended
		if err := h.release(run, func() { left++ }); !errors.Is(err, want) || (filter.mended == mended) != (want != nil) {
			t.Errorf("%s: %v, %+v", run, err, filter)
		}
	}
	if left != 1 {
		t.Errorf("%d sessions have ended", left)
	}
}

// anyRun has every run have the session.
func anyRun(string) error { return nil }

// An installer that has put a manifest in the place of the one that is away is right.
func TestHands_LeaveTheManifestOfAnInstaller(t *testing.T) {
	folder := t.TempDir()
	of := etcdOf("none")
	h := &hands{agent: &agent{Config: Config{Manifests: folder, Components: []Component{of}}, watcher: newWatcher([]Component{of})}, filter: &countingFilter{}, holds: anyRun}
	for name, content := range map[string]string{"etcd.yaml": "theirs", awayPrefix + "etcd.yaml": "older"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.undo(); err != nil {
		t.Fatal(err)
	}
	entries, _ := os.ReadDir(folder)
	if raw, err := os.ReadFile(filepath.Join(folder, "etcd.yaml")); err != nil || string(raw) != "theirs" || len(entries) != 1 {
		t.Errorf("%q, %v, %v", raw, entries, err)
	}
}

// What cannot be kept from starting again is not killed: the harness would take the next
// process for the answer to another fault.
func TestHands_EndNothingThatIsNoStaticPod(t *testing.T) {
	path, program := programNamed(t, "etcd")
	child := start(t, path)
	w := running(t, etcdOf(program))
	w.next(t, 0)
	h := &hands{agent: &agent{Config: Config{Manifests: t.TempDir(), Components: []Component{etcdOf(program)}}, watcher: w}, filter: &countingFilter{}, holds: anyRun}
	if _, err := h.end("r1", end{Component: cluster.Etcd, Signal: int(syscall.SIGKILL), Away: true}); !errors.Is(err, cluster.ErrUnsupported) {
		t.Errorf("%v", err)
	}
	if stat, err := procfs.Read(child.Process.Pid); err != nil || !stat.Alive() {
		t.Errorf("the process is %v, %v", stat, err)
	}
	if _, err := h.end("r1", end{Component: cluster.Etcd, Signal: int(syscall.SIGSEGV)}); err == nil {
		t.Error("it sends any signal")
	}
}

func TestInPod(t *testing.T) {
	logs := t.TempDir()
	const static, user = "0123456789abcdef0123456789abcdef", "0a1b2c3d-0000-1111-2222-333344445555"
	for _, folder := range []string{"kube-system_etcd-node-1_" + static, "default_etcd-0_" + user} {
		if err := os.Mkdir(filepath.Join(logs, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for group, want := range map[string]bool{
		"0::/../../pod" + static + "/x\n": true,
		"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" + static + ".slice/cri-containerd-x.scope\n":                               true,
		"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" + strings.ReplaceAll(user, "-", "_") + ".slice/cri-containerd-x.scope\n": false,
		"11:cpu:/kubepods/burstable/pod" + user + "/x\n": false,
		"0::/system.slice/etcd.service\n":                true,
	} {
		if got := inPod(logs, "node-1", group, etcdOf("etcd")); got != want {
			t.Errorf("%q: %t", group, got)
		}
	}
}

//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
)

// agent is what runs in the node.
type agent struct {
	Config
	shared  string
	watcher *watcher
	links   *links
	faults  httpFaults
}

func run(file string) error {
	// It carries small pieces between processes of the node, all the time. On one
	// processor it is not woken on another one for each of them, which is most of what
	// that costs, and there is no lack of others who want the rest.
	runtime.GOMAXPROCS(1)
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	a := &agent{shared: filepath.Dir(file)}
	if err := json.Unmarshal(raw, &a.Config); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()

	a.watcher = newWatcher(a.Components)
	if a.links, err = openLinks(ctx, a.Config); err != nil {
		return err
	}
	defer a.links.close()
	running.Go(func() { a.watcher.run(ctx) })
	logs := newLogKeeper(podLogs, Logs, a.Config)
	running.Go(func() { logs.run(ctx) })
	return a.serve(ctx)
}

// serve answers until the context ends. The service manager is told only when
// all is in place: the kubelet waits for that.
func (a *agent) serve(ctx context.Context) error {
	socket := filepath.Join(a.shared, SocketFile)
	if err := os.Remove(socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	// The harness may run as any user who may use Docker. Which other users may come near is
	// for the shared folder's mode to say.
	if err := os.Chmod(socket, 0o666); err != nil { //nolint:gosec // G302: the folder's mode decides, as said above.
		return err
	}
	server := &http.Server{Handler: a.handler(), ReadHeaderTimeout: headerBound, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	if err := notifyReady(); err != nil {
		return err
	}
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.Background(), shutdownBound)
	defer cancel()
	if err := server.Shutdown(bounded); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return nil
}

// notifyReady tells the service manager that the agent is ready, as sd_notify(3)
// has it; without one it does nothing.
func notifyReady() error {
	name := os.Getenv("NOTIFY_SOCKET")
	if name == "" {
		return nil
	}
	connection, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		return err
	}
	defer connection.Close()
	_, err = connection.Write([]byte("READY=1"))
	return err
}

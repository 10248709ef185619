//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// The requests that the agent answers.
const (
	pathEvents    = "/events"
	pathEnd       = "/end"
	pathPod       = "/pod"
	pathCleared   = "/cleared"
	pathManifest  = "/manifest"
	pathHealth    = "/health"
	pathLink      = "/link"
	pathStopped   = "/stopped"
	pathCPUWaits  = "/cpu-waits"
	pathAddress   = "/address"
	pathKeyFault  = "/key-fault"
	pathHTTPFault = "/http-fault"
)

func (a *agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathEvents, a.streamEvents)
	mux.HandleFunc("POST "+pathEnd, answering(a.end))
	mux.HandleFunc("PUT "+pathPod, answering(a.putPod))
	mux.HandleFunc("POST "+pathCleared, answering(a.clear))
	mux.HandleFunc("GET "+pathManifest, a.readManifest)
	mux.HandleFunc("GET "+pathHealth, a.askHealth)
	mux.HandleFunc("GET "+pathStopped, a.askStopped)
	mux.HandleFunc("GET "+pathCPUWaits, a.tellCPUWaits)
	mux.HandleFunc("GET "+pathAddress, func(w http.ResponseWriter, _ *http.Request) {
		own, _, err := addresses()
		answer(w, own, err)
	})
	mux.HandleFunc("PUT "+pathLink, answering(func(r *http.Request, wanted shaping) (struct{}, error) {
		return struct{}{}, a.links.set(r.Context(), wanted.Link, wanted.Shape)
	}))
	mux.HandleFunc("GET "+pathLink, func(w http.ResponseWriter, r *http.Request) {
		stats, err := a.links.stats(r.Context(), cluster.Link(r.URL.Query().Get("link")))
		answer(w, stats, err)
	})
	mux.HandleFunc("PUT "+pathKeyFault, answering(func(_ *http.Request, wanted cluster.KeyFault) (struct{}, error) {
		return struct{}{}, a.links.requests.setKeyFault(wanted)
	}))
	mux.HandleFunc("GET "+pathKeyFault, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, a.links.requests.keyFaultStats(), nil)
	})
	mux.HandleFunc("POST "+pathHTTPFault, a.faultHTTP)
	mux.HandleFunc("DELETE "+pathHTTPFault, a.healHTTP)
	return mux
}

// answering makes a handler of a function that takes and gives JSON.
func answering[In, Out any](do func(*http.Request, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r, in)
		answer(w, out, err)
	}
}

func answer(w http.ResponseWriter, out any, err error) {
	switch {
	case errors.Is(err, cluster.ErrUnsupported):
		http.Error(w, err.Error(), http.StatusNotImplemented)
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	default:
		// The client has gone if this cannot be written.
		_ = json.NewEncoder(w).Encode(out)
	}
}

// streamEvents gives all events since the node came up, one to a line, and each
// further one as it happens.
func (a *agent) streamEvents(w http.ResponseWriter, r *http.Request) {
	lines := json.NewEncoder(w)
	control := http.NewResponseController(w)
	for index, caughtUp := 0, false; ; caughtUp = true {
		events, more := a.watcher.since(index)
		for _, event := range events {
			if lines.Encode(event) != nil {
				return
			}
		}
		if !caughtUp && lines.Encode(Event{Now: true}) != nil {
			return
		}
		index += len(events)
		if control.Flush() != nil {
			return
		}
		select {
		case <-more:
		case <-r.Context().Done():
			return
		}
	}
}

func (a *agent) component(name cluster.Component) (Component, error) {
	at := slices.IndexFunc(a.Components, func(one Component) bool { return one.Name == name })
	if at < 0 {
		return Component{}, fmt.Errorf("%s has no %s: %w", a.Member, name, cluster.ErrUnsupported)
	}
	return a.Components[at], nil
}

func (a *agent) manifest(of Component) string { return filepath.Join(a.Manifests, of.Pod+".yaml") }

// end signals a component. Its static Pod goes first: once the process is gone,
// the kubelet would start it again, and it learns of the removal much sooner
// than it notices the end of a process.
func (a *agent) end(_ *http.Request, wanted end) (signaled, error) {
	of, err := a.component(wanted.Component)
	if err != nil {
		return signaled{}, err
	}
	if wanted.Away {
		if err := os.Remove(a.manifest(of)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return signaled{}, err
		}
	}
	reached, err := a.watcher.signal(wanted.Component, syscall.Signal(wanted.Signal))
	return signaled{reached}, err
}

// putPod gives the kubelet a static Pod. It must never see half of a file.
func (a *agent) putPod(_ *http.Request, wanted pod) (struct{}, error) {
	of, err := a.component(wanted.Component)
	if err != nil {
		return struct{}{}, err
	}
	// The kubelet reads no files whose names begin with a dot.
	temporary := filepath.Join(a.Manifests, "."+of.Pod+".new")
	if err := os.WriteFile(temporary, wanted.Manifest, 0o600); err != nil {
		return struct{}{}, err
	}
	return struct{}{}, os.Rename(temporary, a.manifest(of))
}

func (a *agent) clear(r *http.Request, wanted clearing) (struct{}, error) {
	of, err := a.component(wanted.Component)
	if err == nil {
		a.awaitCleared(r.Context(), of)
	}
	return struct{}{}, err
}

// awaitCleared waits until the kubelet is done with the static Pod of a component
// that was taken away. Where it finds the next one of that name while it is not, it
// leaves it alone for ten to fifteen seconds before it looks again. What stays for
// longer than the bound costs those seconds and nothing else.
func (a *agent) awaitCleared(ctx context.Context, of Component) {
	if _, err := os.Stat(a.manifest(of)); err == nil {
		return
	}
	_ = wait.PollUntilContextTimeout(ctx, clearedPoll, clearedBound, true, func(context.Context) (bool, error) {
		left, err := filepath.Glob(filepath.Join(a.Pods, "*", "containers", of.Pod))
		return len(left) == 0, err
	})
}

func (a *agent) readManifest(w http.ResponseWriter, r *http.Request) {
	of, err := a.component(cluster.Component(r.URL.Query().Get("component")))
	if err != nil {
		answer(w, nil, err)
		return
	}
	raw, err := os.ReadFile(a.manifest(of))
	if err != nil {
		answer(w, nil, err)
		return
	}
	_, _ = w.Write(raw)
}

// healthLimit is the most that is passed on of what a component says of itself.
const healthLimit = 4 << 10

// askHealth passes on what a component that listens on the node's loopback only
// says of its readiness. Whose certificate it has is no question there.
func (a *agent) askHealth(w http.ResponseWriter, r *http.Request) {
	of, err := a.component(cluster.Component(r.URL.Query().Get("component")))
	if err != nil {
		answer(w, nil, err)
		return
	}
	if of.Health == "" {
		answer(w, nil, fmt.Errorf("the %s is asked from outside whether it is ready", of.Name))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), askBound)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, of.Health, nil)
	if err != nil {
		answer(w, nil, err)
		return
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		// A component serves its health on the node's loopback with a certificate that it made itself.
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // G402: as said above; the kubelet does the same.
	}}
	response, err := client.Do(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, healthLimit))
	w.WriteHeader(response.StatusCode)
	_, _ = w.Write(body)
}

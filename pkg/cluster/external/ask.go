package external

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// unthrottled is the QPS by which client-go is told not to hold requests back: a
// recorder wants to know when the server answers, not when the client asks.
const unthrottled = -1

// load reads the configuration for a server from a kubeconfig file. Its errors name
// the file, and nothing that is in it.
func load(topology *cluster.Topology, from cluster.Kubeconfig) (*rest.Config, error) {
	file := topology.Path(from.File)
	content, err := clientcmd.LoadFromFile(file)
	if err != nil {
		return nil, fmt.Errorf("the kubeconfig %s cannot be read: %w", file, err)
	}
	if err := clientcmd.ResolveLocalPaths(content); err != nil {
		return nil, fmt.Errorf("the kubeconfig %s cannot be read: %w", file, err)
	}
	name := from.Context
	if name == "" {
		name = content.CurrentContext
	}
	if _, ok := content.Contexts[name]; !ok {
		return nil, fmt.Errorf("the kubeconfig %s has no context %q", file, name)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*content, name, nil, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("the context %q of the kubeconfig %s cannot be used: %w", name, file, err)
	}
	if err := throughProxy(config); err != nil {
		return nil, fmt.Errorf("the context %q of the kubeconfig %s cannot be used: %w", name, file, err)
	}
	config.QPS = unthrottled
	return config, nil
}

// located is the access to etcd with paths that this process can open.
func located(topology *cluster.Topology, access *cluster.EtcdAccess) *cluster.EtcdAccess {
	if access == nil {
		return nil
	}
	out := *access
	for _, path := range []*string{&out.CA, &out.Cert, &out.Key} {
		if *path != "" {
			*path = topology.Path(*path)
		}
	}
	return &out
}

// asker asks one API server, each time over a connection of its own, since the last
// one may lead to a process that has gone.
type asker struct {
	client *http.Client
	base   string
}

func newAsker(config *rest.Config) (asker, string, error) {
	secured, err := rest.TLSConfigFor(config)
	if err != nil {
		return asker{}, "", fmt.Errorf("its TLS settings cannot be used: %w", err)
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return asker{}, "", fmt.Errorf("its address cannot be used: %w", err)
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, &http.Transport{
		TLSClientConfig: secured, DisableKeepAlives: true, Proxy: config.Proxy,
		DialContext: (&net.Dialer{Timeout: askBound}).DialContext,
	})
	if err != nil {
		return asker{}, "", fmt.Errorf("its credentials cannot be used: %w", err)
	}
	a := asker{base: strings.TrimSuffix(base.String(), "/"), client: &http.Client{
		Transport: wrapped, Timeout: askBound,
		// An answer must be the member's own, not that of whom it points at.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return a, a.base, nil
}

// answerLimit is the most that is read of an answer.
const answerLimit = 64 << 20

// get asks for a path and has an answer of 200 read.
func (a asker) get(ctx context.Context, path string, read func(io.Reader) error) error {
	answer, err := a.ask(ctx, path)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return &refusal{path, answer.StatusCode}
	}
	return read(io.LimitReader(answer.Body, answerLimit))
}

// refusal is an answer that is not the one that was asked for.
type refusal struct {
	path string
	code int
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("it answered %d at %s", r.code, r.path) }

func (a asker) ask(ctx context.Context, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("it does not answer: %w", err)
	}
	return answer, nil
}

// metrics tell which process answers.
func (a asker) metrics(ctx context.Context) (found metrics, err error) {
	err = a.get(ctx, "/metrics", func(body io.Reader) error {
		found, err = readMetrics(body)
		return err
	})
	var refused *refusal
	if errors.As(err, &refused) && (refused.code == http.StatusForbidden || refused.code == http.StatusUnauthorized) {
		err = fmt.Errorf("%w: the kubeconfig's user must be allowed to read the metrics, by which one process is told from another", err)
	}
	return found, err
}

// version is what /version says.
func (a asker) version(ctx context.Context) (string, error) {
	var told struct {
		GitVersion string `json:"gitVersion"`
	}
	err := a.get(ctx, "/version", func(body io.Reader) error { return json.NewDecoder(body).Decode(&told) })
	if err == nil && told.GitVersion == "" {
		err = errors.New("its /version names no release")
	}
	return told.GitVersion, err
}

// ready is nil if the server says that it is ready.
func (a asker) ready(ctx context.Context) error {
	return a.get(ctx, "/readyz", discard)
}

// discard reads nothing of an answer whose status says all.
func discard(io.Reader) error { return nil }

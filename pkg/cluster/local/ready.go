package local

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// probe asks components whether they are ready. Every question goes over a
// connection of its own, since the last one may lead to a dead process.
type probe struct{ client *http.Client }

func newProbe(config *tls.Config) probe {
	return probe{&http.Client{
		Timeout:   probeBound,
		Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true},
	}}
}

// answerLimit is the most that is read of an answer.
const answerLimit = 64 << 10

// ask returns nil if the component of the site is ready, and why not if not.
func (p probe) ask(ctx context.Context, component cluster.Component, s *site) error {
	url, etcd := "", component == cluster.Etcd
	switch component {
	case cluster.Etcd:
		// etcd answers this only while it is in a cluster that has a leader.
		url = s.etcdClient.URL() + "/health"
	case cluster.APIServer:
		url = s.apiserver.URL() + s.readyPath(component) + "?verbose"
	case cluster.ControllerManager:
		url = s.controllerManager.URL() + s.readyPath(component)
	case cluster.Scheduler:
		url = s.scheduler.URL() + s.readyPath(component)
	case cluster.AggregatedServer:
		url = s.aggregated.URL() + s.readyPath(component) + "?verbose"
	default:
		return fmt.Errorf("%s cannot be asked whether it is ready", component)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := p.client.Do(request)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	if err != nil {
		return fmt.Errorf("half an answer: %w", err)
	}
	if etcd {
		return etcdHealth(body)
	}
	if answer.StatusCode != http.StatusOK {
		return &answered{path: s.readyPath(component), code: answer.StatusCode, body: string(body)}
	}
	return nil
}

// answered is the answer of a component that is not ready.
type answered struct {
	path string
	code int
	body string
}

func (a *answered) Error() string {
	return fmt.Sprintf("%s answered %d%s", a.path, a.code, failing(a.body))
}

func etcdHealth(body []byte) error {
	var health struct {
		Health string `json:"health"`
		Reason string `json:"reason"`
	}
	if err := json.Unmarshal(body, &health); err != nil {
		return fmt.Errorf("/health answered no JSON: %w", err)
	}
	if health.Health == "true" {
		return nil
	}
	if strings.Contains(health.Reason, "NO LEADER") || health.Reason == "" {
		return fmt.Errorf("etcd has no leader, so no majority of the members' etcd runs and is reachable")
	}
	return fmt.Errorf("etcd is not healthy: %s", health.Reason)
}

// failing lists the checks that /readyz reports as failed.
func failing(body string) string {
	names := failingChecks(body)
	switch {
	case len(names) == 0:
		return ""
	case len(names) == 1 && strings.HasPrefix(names[0], "etcd"):
		return ": it does not reach its etcd"
	default:
		return ", failing: " + strings.Join(names, ", ")
	}
}

// failingChecks are the names of those checks.
func failingChecks(body string) (names []string) {
	for line := range strings.Lines(body) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(check, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

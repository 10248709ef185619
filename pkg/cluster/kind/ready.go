//go:build linux

package kind

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

// awaitReady waits until a process of the component runs and says that it is
// ready. What does not become ready is a cluster.Unready, unless no process of it was
// ever seen, which is the node's failure, or its log tells that the machine is why.
func (c *kindCluster) awaitReady(ctx context.Context, m *member, component cluster.Component) error {
	began, seen := time.Now(), false
	last := fmt.Errorf("no process of it has been seen")
	crashed := false
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyBound, true, func(ctx context.Context) (bool, error) {
		if crashed = m.units.Exits(component) >= crashLimit; crashed {
			return false, fmt.Errorf("it exited %d times", crashLimit)
		}
		if _, runs := m.units.Process(component); !runs {
			return false, nil
		}
		seen = true
		if answer := c.ask(ctx, m, component); answer != nil {
			// A question that the end of the wait cut short tells nothing.
			if ctx.Err() == nil {
				last = answer
			}
			return false, nil
		}
		_, runs := m.units.Process(component)
		return runs, nil
	})
	if err == nil {
		return nil
	}
	c.keepKubeletLog(m)
	if cause := context.Cause(ctx); cause != nil && !cluster.TimedOut(ctx) {
		return fmt.Errorf("waiting for the %s of member %s was given up: %w", component, m.name, cause)
	}
	unready := &cluster.Unready{Member: m.name, Component: component, Waited: time.Since(began), Bound: readyBound}
	var answer *answered
	if errors.As(last, &answer) {
		unready.Code, unready.Failing = answer.code, answer.failing
	}
	switch {
	case crashed:
		unready.Bound, unready.What = 0, fmt.Sprintf("cannot run: it exited %d times", crashLimit)
	case ctx.Err() != nil:
		unready.Bound, unready.What = 0, fmt.Sprintf("was not ready after %s, when %v: %v", unready.Waited.Round(time.Millisecond), context.Cause(ctx), last)
	default:
		unready.What = fmt.Sprintf("was not ready within %s: %v", readyBound, last)
	}
	log := filepath.Join(c.logDir, fmt.Sprintf("%s-%s.log", m.name, component))
	said := logtail.Read(log)
	if said != "" {
		unready.What += fmt.Sprintf("; its log %s ends with: %s", log, said)
	} else {
		unready.What += "; it has no log"
	}
	if failure := cluster.MachineFailure(said); failure != "" {
		return fmt.Errorf("%s, which is a failure of this machine (%s): mend it and run again", unready.Error(), failure)
	}
	if !seen && !crashed {
		return fmt.Errorf("%s; the kubelet has started no process of it, see %s-kubelet.log", unready.Error(), m.name)
	}
	return unready
}

// keepKubeletLog leaves what the kubelet of a member has said lately beside the logs of its
// components: where none of them came, only the kubelet knows why.
func (c *kindCluster) keepKubeletLog(m *member) {
	// The wait may have been given up, and this is short.
	said, err := docker(context.Background(), "exec", m.host, "journalctl", "--unit=kubelet", "--no-pager", "--lines=2000")
	if err != nil {
		return // a node that is gone or has no power has nothing to say
	}
	// It adds to a failure that is told of already, and does not become another one.
	_ = os.WriteFile(filepath.Join(c.logDir, m.name+"-kubelet.log"), []byte(said+"\n"), 0o600)
}

// answerLimit is the most that is read of an answer.
const answerLimit = 64 << 10

// ask returns nil if the component is ready, and why not if not. What can be
// reached from outside is asked from outside.
func (c *kindCluster) ask(ctx context.Context, m *member, component cluster.Component) error {
	ctx, cancel := context.WithTimeout(ctx, probeBound)
	defer cancel()
	switch component {
	case cluster.Etcd:
		config, err := c.etcdAuthority.ClientTLS(c.etcdClient)
		if err != nil {
			return err
		}
		body, err := get(ctx, config, local(m.etcd)+"/health")
		if err == nil && !strings.Contains(body, `"health":"true"`) {
			err = fmt.Errorf("etcd is not healthy: %s", body)
		}
		return err
	case cluster.APIServer:
		config, err := rest.TLSConfigFor(c.clientOf(local(m.apiserver)))
		if err != nil {
			return err
		}
		_, err = get(ctx, config, local(m.apiserver)+c.distribution.readyPath())
		return err
	case cluster.ControllerManager, cluster.Scheduler, cluster.AggregatedServer, cluster.Whole:
	}
	return m.agent.Health(ctx, component)
}

// get asks over a connection of its own, since the last one may lead to a dead
// process.
func get(ctx context.Context, config *tls.Config, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		return "", fmt.Errorf("no answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerLimit))
	if err != nil {
		return "", fmt.Errorf("half an answer: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return "", &answered{answer.StatusCode, failingChecks(string(body)), oneLine(string(body))}
	}
	return string(body), nil
}

// answered is the answer of a component that is not ready.
type answered struct {
	code    int
	failing []string
	said    string
}

func (a *answered) Error() string { return fmt.Sprintf("it answered %d: %s", a.code, a.said) }

// failingChecks are the names of the checks that /readyz reports as failed.
func failingChecks(body string) (names []string) {
	for line := range strings.Lines(body) {
		if check, ok := strings.CutPrefix(line, "[-]"); ok {
			name, _, _ := strings.Cut(check, " ")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

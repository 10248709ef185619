//go:build linux

package kind

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/logtail"
)

// awaitReady waits until a process of the component runs and says that it is
// ready.
func (c *kindCluster) awaitReady(ctx context.Context, m *member, component cluster.Component) error {
	last := fmt.Errorf("no process of it has been seen")
	crashed := false
	err := wait.PollUntilContextTimeout(ctx, readyPoll, readyBound, true, func(ctx context.Context) (bool, error) {
		if crashed = m.units.exits(component) >= crashLimit; crashed {
			return false, fmt.Errorf("it exited %d times", crashLimit)
		}
		if _, runs := m.units.process(component); !runs {
			return false, nil
		}
		if answer := c.ask(ctx, m, component); answer != nil {
			// A question that the end of the wait cut short tells nothing.
			if ctx.Err() == nil {
				last = answer
			}
			return false, nil
		}
		_, runs := m.units.process(component)
		return runs, nil
	})
	if err == nil {
		return nil
	}
	c.keepKubeletLog(m)
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("waiting for the %s of member %s was given up: %w", component, m.name, cause)
	}
	what := fmt.Sprintf("was not ready within %s: %v", readyBound, last)
	if crashed {
		what = fmt.Sprintf("cannot run: it exited %d times", crashLimit)
	}
	log := filepath.Join(c.logDir, fmt.Sprintf("%s-%s.log", m.name, component))
	if said := logtail.Read(log); said != "" {
		return fmt.Errorf("the %s of member %s %s; its log %s ends with: %s", component, m.name, what, log, said)
	}
	return fmt.Errorf("the %s of member %s %s; it has no log", component, m.name, what)
}

// keepKubeletLog leaves what the kubelet of a member has said lately beside the logs of its
// components: where none of them came, nobody else knows why.
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
		return "", fmt.Errorf("it answered %d: %s", answer.StatusCode, oneLine(string(body)))
	}
	return string(body), nil
}

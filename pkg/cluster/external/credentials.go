package external

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"

	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/cluster/oneline"
	"github.com/evenkeel/evenkeel/pkg/credential"
)

// sent are the credentials that went out in the headers of requests: a plugin gives
// others from time to time, and so does who writes the file of a token anew.
type sent struct {
	what string

	mu  sync.Mutex
	all map[string]bool
}

// watch has all be remembered that requests of the configuration's clients have in their
// headers.
func (s *sent) watch(config *rest.Config) {
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return watched{next, s} })
}

// watchSent does so for a configuration of the cluster.
func (c *external) watchSent(what string, config *rest.Config) {
	one := &sent{what: what, all: map[string]bool{}}
	one.watch(config)
	c.sent = append(c.sent, one)
}

// watched is a way that requests take when all headers are on them.
type watched struct {
	http.RoundTripper
	by *sent
}

// WrappedRoundTripper is how libraries find what is beneath.
func (w watched) WrappedRoundTripper() http.RoundTripper { return w.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (w watched) RoundTrip(request *http.Request) (*http.Response, error) {
	// What follows the scheme, and of a password the name with it.
	if _, token, ok := strings.Cut(request.Header.Get("Authorization"), " "); ok {
		w.by.take(token)
	}
	return w.RoundTripper.RoundTrip(request)
}

func (s *sent) take(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[token] = true
}

func (s *sent) credentials() []credential.Credential {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []credential.Credential
	for token := range s.all {
		all = append(all, credential.Token("the login to "+s.what, token))
	}
	return all
}

// Credentials implements cluster.Cluster: what the kubeconfigs and certificates that the
// topology names hold now, and what requests were sent with. What hooks know is theirs.
func (c *external) Credentials(context.Context) ([]credential.Credential, error) {
	var all []credential.Credential
	all = append(all, c.secrets...)
	if bequest := c.bequest.Load(); bequest != nil {
		all = append(all, credential.Token("the token of the "+remover, bequest.Token))
	}
	var problems []error
	add := func(found []credential.Credential, err error) {
		all, problems = credential.Merge(all, found...), append(problems, err)
	}
	for _, m := range c.members {
		add(configured(m.name, m.config))
		if m.etcd != nil && m.etcd.Key != "" {
			add(keyFile("the client key for the etcd of "+m.name, m.etcd.Key))
		}
	}
	if c.balancer != nil {
		add(configured("the load balancer", c.balancer))
	}
	for _, one := range c.sent {
		add(one.credentials(), nil)
	}
	if c.spec.SSH != nil && c.spec.SSH.IdentityFile != "" {
		add(keyFile("the SSH key for the nodes", c.topology.Path(c.spec.SSH.IdentityFile)))
	}
	return all, oneline.Join(problems...)
}

// configured is what a client's configuration and the files that it names hold.
func configured(what string, config *rest.Config) ([]credential.Credential, error) {
	all := []credential.Credential{
		credential.Token("the token for "+what, config.BearerToken), credential.Token("the password for "+what, config.Password),
	}
	all = append(all, credential.Keys("the client key for "+what, config.KeyData)...)
	if config.AuthProvider != nil {
		all = append(all, credential.Provider(" for "+what, config.AuthProvider)...)
	}
	var problems []error
	proxy, _, err := proxyOf(config)
	problems = append(problems, err)
	if proxy != nil {
		password, _ := proxy.User.Password()
		all = append(all, credential.Token("the password of the proxy for "+what, password))
	}
	if config.KeyFile != "" {
		found, err := keyFile("the client key for "+what, config.KeyFile)
		all, problems = append(all, found...), append(problems, err)
	}
	if config.BearerTokenFile != "" {
		raw, err := os.ReadFile(config.BearerTokenFile)
		if err != nil {
			problems = append(problems, fmt.Errorf("the token for %s cannot be read: %w", what, err))
		}
		all = append(all, credential.Token("the token for "+what, string(raw)))
	}
	return all, oneline.Join(problems...)
}

// keyFile is what a file of PEM blocks holds; it is an error if that is no key.
func keyFile(what, file string) ([]credential.Credential, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", what, err)
	}
	keys := credential.Keys(what, raw)
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s cannot be read: %s holds none in PEM", what, file)
	}
	return keys, nil
}

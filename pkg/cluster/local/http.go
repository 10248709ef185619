package local

import (
	"context"
	"fmt"
	"net"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/cluster/link"
	"github.com/evenkeel/evenkeel/pkg/cluster/pki"
	"github.com/evenkeel/evenkeel/pkg/cluster/port"
)

// FaultHTTP implements cluster.HTTPFaultInjector. The first fault of a member puts an
// interceptor into the link of its controllers, which stays there: what there is
// of connections is broken once, and the controllers make others.
func (c *local) FaultHTTP(name string, component cluster.Component, fault cluster.HTTPFault, observe func(cluster.HTTPExchange)) (heal func(), err error) {
	if err := fault.Validate(); err != nil {
		return nil, fmt.Errorf("cannot make the link of the %s of member %s faulty: %w", component, name, err)
	}
	m, err := c.look(name)
	if err != nil {
		return nil, err
	}
	if _, err := m.unit(component); err != nil {
		return nil, err
	}
	if component != cluster.ControllerManager && component != cluster.Scheduler {
		return nil, fmt.Errorf("the %s of member %s has no link to its API server that understands HTTP: %w", component, name, cluster.ErrUnsupported)
	}
	interceptor, fresh, err := c.intercept(m)
	if err != nil {
		return nil, fmt.Errorf("cannot make the link of the %s of member %s faulty: %w", component, name, err)
	}
	heal = interceptor.Fault(component, fault, observe)
	if fresh {
		m.site.componentsProxy.Break()
	}
	return heal, nil
}

// intercept gives the member's interceptor, which is fresh if it was made just now.
func (c *local) intercept(m *member) (interceptor *link.Interceptor, fresh bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.interceptor != nil {
		return m.interceptor, false, nil
	}
	s := m.site
	pair, err := c.ca.Issue(m.name+"-interceptor", pki.Subject{Name: "interceptor-" + m.name, Server: true})
	if err != nil {
		return nil, false, err
	}
	serving, err := pair.TLS()
	if err != nil {
		return nil, false, err
	}
	var identities []link.Identity
	for component, client := range map[cluster.Component]pki.Pair{cluster.ControllerManager: s.controllerClient, cluster.Scheduler: s.schedulerClient} {
		if len(client.CertPEM) == 0 {
			continue // the distribution has no such component
		}
		certificate, err := client.TLS()
		if err != nil {
			return nil, false, err
		}
		identities = append(identities, link.Identity{Component: component, Certificate: certificate})
	}
	// No client is told of this port, so it may be any.
	listener, err := net.Listen("tcp", net.JoinHostPort(port.Loopback, "0"))
	if err != nil {
		return nil, false, err
	}
	if m.interceptor, err = link.NewInterceptor(link.InterceptorConfig{
		Listener: listener, Serving: serving, Authority: c.ca.Pool(), Address: s.apiserver.Address, Identities: identities,
	}); err != nil {
		listener.Close()
		return nil, false, err
	}
	return m.interceptor, true, nil
}

// toAPIServer is where the connections of the member's controllers go.
func (m *member) toAPIServer(ctx context.Context, client *net.TCPConn) (*net.TCPConn, error) {
	m.mu.Lock()
	address := m.site.apiserver.Address
	if m.interceptor != nil {
		address = m.interceptor.Address()
	}
	m.mu.Unlock()
	return link.To(address)(ctx, client)
}

func (m *member) dropInterceptor() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.interceptor != nil {
		m.interceptor.Stop()
	}
}

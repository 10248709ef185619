//go:build linux

package agent

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Dialer makes a connection to an installed agent.
type Dialer func(ctx context.Context) (net.Conn, error)

// NewRemoteClient makes a client of a run for an installed agent.
func NewRemoteClient(member, run string, dial Dialer, secured *tls.Config) *Client {
	plain := secured.Clone()
	plain.NextProtos = []string{"http/1.1"}
	return &Client{
		member: member, scheme: "https", run: run,
		http: &http.Client{Transport: &http.Transport{
			DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
			TLSClientConfig: plain, TLSHandshakeTimeout: dialBound,
			// One that is kept may lead to a node that has lost its power.
			DisableKeepAlives: true,
		}},
	}
}

// Who asks the agent what it is.
func (c *Client) Who(ctx context.Context) (Who, error) {
	var who Who
	err := c.exchange(ctx, http.MethodGet, pathWho, nil, nil, &who)
	return who, err
}

// Renew begins or renews the session of the client's run, and says what is to be removed if no
// renewal follows; nil is nothing.
func (c *Client) Renew(ctx context.Context, bequest *Bequest) error {
	return c.exchange(ctx, http.MethodPost, pathRenew, nil, renewal{bequest}, nil)
}

// Leave ends the session: the agent takes everything back.
func (c *Client) Leave(ctx context.Context) error {
	return c.exchange(ctx, http.MethodPost, pathLeave, nil, nil, nil)
}

// Restore puts a static Pod that was taken away back as it was.
func (c *Client) Restore(ctx context.Context, component cluster.Component) error {
	return c.exchange(ctx, http.MethodPost, pathRestore, nil, clearing{Component: component}, nil)
}

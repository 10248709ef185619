//go:build linux

package agent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"

	"github.com/evenkeel/evenkeel/pkg/cluster"
)

// Client talks to the agent of one node.
type Client struct {
	member string
	http   *http.Client
	// scheme is http over a socket, and https to an installed agent, of which run names the
	// session.
	scheme, run string
}

// NewClient makes a client for the agent that shares the folder. The agent need
// not be there yet.
func NewClient(member, shared string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		// A socket's path must be short, and who knows where the folder is.
		folder, err := os.Open(shared)
		if err != nil {
			return nil, err
		}
		defer folder.Close()
		return new(net.Dialer).DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/%s", folder.Fd(), SocketFile))
	}
	// Connections are not kept: one may lead to a node that has lost its power.
	return &Client{member: member, scheme: "http", http: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}}
}

// Events tells of all events since the node came up, and of each further one as
// it happens, until the context ends or the agent is gone.
func (c *Client) Events(ctx context.Context, tell func(Event)) error {
	body, err := c.do(ctx, http.MethodGet, pathEvents, nil, nil)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		var event Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			return fmt.Errorf("the agent of %s told %q: %w", c.member, lines.Text(), err)
		}
		tell(event)
	}
	return lines.Err()
}

// End sends a signal to all processes of a component, having taken its static
// Pod away first if away is set; it tells which processes there were.
func (c *Client) End(ctx context.Context, component cluster.Component, signal syscall.Signal, away bool) ([]cluster.Process, error) {
	var told signaled
	err := c.exchange(ctx, http.MethodPost, pathEnd, nil, end{Component: component, Signal: int(signal), Away: away}, &told)
	return told.Processes, err
}

// PutPod gives the node's kubelet the static Pod of a component.
func (c *Client) PutPod(ctx context.Context, component cluster.Component, manifest []byte) error {
	return c.exchange(ctx, http.MethodPut, pathPod, nil, pod{Component: component, Manifest: manifest}, nil)
}

// Clear waits until the kubelet is done with what is left of a component's static Pod,
// if that was taken away, and not for ever. Until then the kubelet may start the
// component once more, which it does if it notices the end of the process first.
func (c *Client) Clear(ctx context.Context, component cluster.Component) error {
	return c.exchange(ctx, http.MethodPost, pathCleared, nil, clearing{Component: component}, nil)
}

// Manifest is the static Pod of a component as it is there now.
func (c *Client) Manifest(ctx context.Context, component cluster.Component) ([]byte, error) {
	ctx, cancel := bounded(ctx)
	defer cancel()
	body, err := c.do(ctx, http.MethodGet, pathManifest, url.Values{"component": {string(component)}}, nil)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	return io.ReadAll(body)
}

// Health is nil if the component says that it is ready, and why not if not.
func (c *Client) Health(ctx context.Context, component cluster.Component) error {
	ctx, cancel := bounded(ctx)
	defer cancel()
	body, err := c.do(ctx, http.MethodGet, pathHealth, url.Values{"component": {string(component)}}, nil)
	if err != nil {
		return err
	}
	return body.Close()
}

// Address of the node in the cluster's network.
func (c *Client) Address(ctx context.Context) (netip.Addr, error) {
	var own netip.Addr
	err := c.exchange(ctx, http.MethodGet, pathAddress, nil, nil, &own)
	return own, err
}

// SetLink shapes a link.
func (c *Client) SetLink(ctx context.Context, name cluster.Link, shape cluster.Shape) error {
	return c.exchange(ctx, http.MethodPut, pathLink, nil, shaping{Link: name, Shape: shape}, nil)
}

// LinkStats tells what a link has carried since the node came up.
func (c *Client) LinkStats(ctx context.Context, name cluster.Link) (cluster.LinkStats, error) {
	var stats cluster.LinkStats
	err := c.exchange(ctx, http.MethodGet, pathLink, url.Values{"link": {string(name)}}, nil, &stats)
	return stats, err
}

// bounded is a context for one question: who asks a node that stands still is to
// hear of it.
func bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, answerBound, fmt.Errorf("it has said nothing for %s", answerBound))
}

// exchange sends JSON, if in is set, and reads JSON, if out is.
func (c *Client) exchange(ctx context.Context, method, path string, query url.Values, in, out any) error {
	var raw []byte
	if in != nil {
		var err error
		if raw, err = json.Marshal(in); err != nil {
			return err
		}
	}
	ctx, cancel := bounded(ctx)
	defer cancel()
	body, err := c.do(ctx, method, path, query, raw)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		return nil
	}
	return json.NewDecoder(body).Decode(out)
}

// complaintLimit is the most that is read of the agent's complaint.
const complaintLimit = 4 << 10

func (c *Client) do(ctx context.Context, method, path string, query url.Values, raw []byte) (io.ReadCloser, error) {
	target := url.URL{Scheme: c.scheme, Host: "agent", Path: path, RawQuery: query.Encode()}
	request, err := http.NewRequestWithContext(ctx, method, target.String(), bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if c.run != "" {
		request.Header.Set(runHeader, c.run)
	}
	response, err := c.http.Do(request)
	if err != nil {
		// The library's words repeat the address, which says nothing here.
		var wrapped *url.Error
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		return nil, fmt.Errorf("the agent in the node of %s does not answer: %w", c.member, err)
	}
	if response.StatusCode == http.StatusOK {
		return response.Body, nil
	}
	defer response.Body.Close()
	complaint, _ := io.ReadAll(io.LimitReader(response.Body, complaintLimit))
	said := strings.TrimSpace(string(complaint))
	if response.StatusCode == http.StatusNotFound {
		return nil, fmt.Errorf("the agent in the node of %s was installed to look and changes nothing: set spec.external.agent to %s and install it again (%w)", c.member, cluster.RungDisrupt, cluster.ErrUnsupported)
	}
	if response.StatusCode == http.StatusNotImplemented {
		return nil, fmt.Errorf("%s (%w)", strings.TrimSuffix(said, ": "+cluster.ErrUnsupported.Error()), cluster.ErrUnsupported)
	}
	return nil, fmt.Errorf("the node of %s: %s", c.member, said)
}

package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/evenkeel/evenkeel/pkg/history"
)

const (
	// barrierMessage is what every refusal by the registration barrier says.
	barrierMessage = "storage version registration"
	// maxBody bounds how much of an answer is read.
	maxBody = 16 << 20
	// maxMessage bounds how much of a server's message is recorded.
	maxMessage = 300
)

// Connect makes an HTTP client of its own connections to one API server, so
// that what one recorder does to a connection disturbs no other.
func Connect(config *rest.Config) (*http.Client, error) {
	tlsConfig, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("use the TLS settings for %s: %w", config.Host, err)
	}
	dial := config.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: DialTimeout}).DialContext
	}
	transport := &http.Transport{
		TLSClientConfig: tlsConfig,
		// Only what the configuration names: the environment's proxy is not for members
		// that the harness runs itself.
		Proxy:               config.Proxy,
		DialContext:         dial,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		HTTP2:               &http.HTTP2Config{SendPingTimeout: PingInterval, PingTimeout: PingInterval},
	}
	wrapped, err := rest.HTTPWrappersForConfig(config, transport)
	if err != nil {
		return nil, fmt.Errorf("use the credentials for %s: %w", config.Host, err)
	}
	return &http.Client{
		Transport: wrapped,
		// An answer must be the member's own, not that of a server that it redirects to.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// Call is one request to an API server, before it is sent.
type Call struct {
	// Class is one of history's Class… values.
	Class string
	// Verb is create, update, patch, delete, deletecollection, get or list.
	// The body of a patch is a merge patch.
	Verb                     string
	Group, Version, Resource string
	Namespace, Name          string
	Subresource              string
	Query                    url.Values
	// Body is sent as JSON.
	Body any
	// Write, Invalid, WithoutDryRun, Defines and Migrates go to the Request event as they
	// are.
	Write    int64
	Invalid  string
	Lasting  bool
	Defines  *history.Definition
	Migrates *history.Migration
	// Election goes to the Request event as it is.
	Election string
}

// Answer is what came of a Call.
type Answer struct {
	// Code is the HTTP status; 0 when no answer came, and Err says why.
	Code int
	Body []byte
	Err  error
	// Refused is whether no connection was accepted, so that the server
	// certainly never saw the request.
	Refused bool
	// ResourceVersion of the object answered with.
	ResourceVersion int64
	Reason, Message string
}

// OK is whether the server did what it was asked.
func (a Answer) OK() bool { return a.Code >= 200 && a.Code < 300 }

// Client sends requests to one member's API server and records each of them.
// A run of refused connections is recorded by its first one of each class
// only: they say nothing else than that there is no server.
type Client struct {
	member   string
	base     *url.URL
	http     *http.Client
	recorder Recorder

	mu      sync.Mutex
	refused map[string]bool
}

// NewClient makes a Client with connections of its own.
func NewClient(member string, config *rest.Config, recorder Recorder) (*Client, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("use the address of %s: %w", member, err)
	}
	client, err := Connect(config)
	if err != nil {
		return nil, err
	}
	return &Client{member: member, base: base, http: client, recorder: recorder, refused: map[string]bool{}}, nil
}

// Member is whose API server the client talks to.
func (c *Client) Member() string { return c.member }

// Close gives up the idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Missed records that the member was not asked what it should have been, and
// why, in words.
func (c *Client) Missed(why string) {
	c.recorder.Record(history.Event{Kind: history.KindRecorderMissed, Member: c.member, RecorderMissed: &history.RecorderMissed{Source: history.SourceRequest, Message: why}})
}

// Get fetches a path without recording it.
func (c *Client) Get(ctx context.Context, path string) Answer {
	return c.send(ctx, http.MethodGet, path, nil, nil)
}

// getItself is Get of what the server has to answer itself: it does not hand the request on
// to a peer.
func (c *Client) getItself(ctx context.Context, path string) Answer {
	return c.sendWith(ctx, map[string]string{handedOnHeader: "true"}, http.MethodGet, path, nil, nil)
}

// Send sends a request without recording it; a body goes as JSON.
func (c *Client) Send(ctx context.Context, method, path string, body any) Answer {
	return c.send(ctx, method, path, nil, body)
}

// Do sends the call, waits for its answer and records both.
func (c *Client) Do(ctx context.Context, call Call) Answer {
	from := c.recorder.Now()
	answer := c.send(ctx, method(call.Verb), resourcePath(call), call.Query, call.Body)

	c.mu.Lock()
	silent := answer.Refused && c.refused[call.Class]
	c.refused[call.Class] = answer.Refused
	c.mu.Unlock()
	if silent {
		return answer
	}
	request := history.Request{
		Class:           call.Class,
		Verb:            call.Verb,
		Group:           call.Group,
		Version:         call.Version,
		Resource:        call.Resource,
		Name:            QualifiedName(call.Namespace, call.Name),
		Code:            answer.Code,
		Reason:          answer.Reason,
		Message:         shorten(answer.Message),
		Barrier:         answer.Code == http.StatusServiceUnavailable && strings.Contains(answer.Message, barrierMessage),
		ResourceVersion: answer.ResourceVersion,
		Write:           call.Write,
		Invalid:         call.Invalid,
		Defines:         call.Defines,
		WithoutDryRun:   call.Lasting,
		Migrates:        call.Migrates,
		Election:        call.Election,
	}
	if call.Subresource != "" {
		request.Resource += "/" + call.Subresource
	}
	if answer.Err != nil {
		request.Error = shorten(answer.Err.Error())
	}
	c.recorder.Record(history.Event{Kind: history.KindRequest, Member: c.member, From: from, Request: &request})
	return answer
}

func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any) Answer {
	return c.sendWith(ctx, nil, method, path, query, body)
}

// sendWith is send with headers beside, or in the place of, those of all requests, which
// accept JSON.
func (c *Client) sendWith(ctx context.Context, headers map[string]string, method, path string, query url.Values, body any) Answer {
	ctx, cancel := context.WithTimeout(ctx, RequestTimeout)
	defer cancel()
	request, err := c.request(ctx, method, path, query, body)
	if err != nil {
		return Answer{Err: err}
	}
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return Answer{Err: err, Refused: errors.Is(err, syscall.ECONNREFUSED)}
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(response.Body, maxBody))
	if err != nil {
		// The status came, but whether it was the last word did not.
		return Answer{Err: fmt.Errorf("read the answer: %w", err)}
	}
	return understand(response.StatusCode, raw)
}

func (c *Client) request(ctx context.Context, method, path string, query url.Values, body any) (*http.Request, error) {
	var content io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return nil, fmt.Errorf("encode the request: %w", err)
		}
		content = bytes.NewReader(raw)
	}
	address := *c.base
	address.Path = strings.TrimSuffix(address.Path, "/") + path
	address.RawQuery = query.Encode()
	request, err := http.NewRequestWithContext(ctx, method, address.String(), content)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "evenkeel/"+c.member)
	if body != nil {
		request.Header.Set("Content-Type", contentType(method))
	}
	return request, nil
}

// understand reads what the recorders need from any answer.
func understand(code int, raw []byte) Answer {
	answer := Answer{Code: code, Body: raw}
	var object struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Reason  string `json:"reason"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &object) != nil {
		if !answer.OK() {
			answer.Message = strings.TrimSpace(string(raw))
		}
		return answer
	}
	if object.Kind == "Status" {
		answer.Reason, answer.Message = object.Reason, object.Message
	}
	if rv := number(object.Metadata.ResourceVersion); rv > 0 {
		answer.ResourceVersion = rv
	}
	return answer
}

func method(verb string) string {
	switch verb {
	case "create":
		return http.MethodPost
	case "update":
		return http.MethodPut
	case "patch":
		return http.MethodPatch
	case "delete", "deletecollection":
		return http.MethodDelete
	default:
		return http.MethodGet
	}
}

func contentType(method string) string {
	if method == http.MethodPatch {
		return "application/merge-patch+json"
	}
	return "application/json"
}

func resourcePath(call Call) string {
	parts := []string{GroupVersionPath(call.Group, call.Version)}
	if call.Namespace != "" {
		parts = append(parts, "namespaces", call.Namespace)
	}
	parts = append(parts, call.Resource)
	if call.Name != "" && call.Verb != "create" {
		parts = append(parts, call.Name)
	}
	if call.Subresource != "" {
		parts = append(parts, call.Subresource)
	}
	return path.Join(parts...)
}

// GroupVersionPath is where an API server serves a version of a group.
func GroupVersionPath(group, version string) string {
	if group == "" {
		return "/api/" + version
	}
	return "/apis/" + group + "/" + version
}

// QualifiedName is how a history names an object: its namespace, where it has
// one, a slash, and its name.
func QualifiedName(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func shorten(s string) string {
	if len(s) <= maxMessage {
		return s
	}
	return strings.ToValidUTF8(s[:maxMessage], "") + "…"
}

// openWatch starts a watch; the caller reads the stream until it ends and
// closes it. It is not bounded in time.
func (c *Client) openWatch(ctx context.Context, path string, resourceVersion string) (io.ReadCloser, error) {
	return c.openWatchOf(ctx, path, "", resourceVersion)
}

// openWatchOf is openWatch of the objects that a label selector selects.
func (c *Client) openWatchOf(ctx context.Context, path, selector, resourceVersion string) (io.ReadCloser, error) {
	query := url.Values{"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {resourceVersion}}
	if selector != "" {
		query.Set("labelSelector", selector)
	}
	return c.openStream(ctx, path, query, "application/json")
}

// openStream is openWatch with a whole query, and what the client accepts.
func (c *Client) openStream(ctx context.Context, path string, query url.Values, accept string) (io.ReadCloser, error) {
	request, err := c.request(ctx, http.MethodGet, path, query, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(io.LimitReader(response.Body, maxBody))
		_ = response.Body.Close()
		answer := understand(response.StatusCode, raw)
		return nil, watchRefusal{answer, fmt.Sprintf("the watch was answered %d: %s", answer.Code, answer.Message)}
	}
	return response.Body, nil
}

// timeOf is a condition's time, which the API's types leave zero when unset.
func timeOf(t *metav1.MicroTime) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}

// splitName undoes QualifiedName.
func splitName(qualified string) (namespace, name string) {
	namespace, name, found := strings.Cut(qualified, "/")
	if !found {
		return "", qualified
	}
	return namespace, name
}

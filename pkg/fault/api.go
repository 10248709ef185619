package fault

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// lookupPath is an object that no client creates: the API server must ask etcd for it each
// time, and a 404 is as good an answer as any.
const lookupPath = "/api/v1/namespaces/default/configmaps/evenkeel-no-such-object"

// NewAPI makes an API that asks the members' API servers directly. Connections
// are kept from one question to the next, so that only a first answer includes
// the making of one.
func NewAPI(config func(member string) (*rest.Config, error), clk clock.PassiveClock) API {
	return &directAPI{config: config, clock: clk, clients: map[string]*client{}}
}

// errAnswered is wrapped where the server has answered, even with an error: it is running.
var errAnswered = errors.New("the server answered, but not with what was asked for")

type directAPI struct {
	config  func(member string) (*rest.Config, error)
	clock   clock.PassiveClock
	clients map[string]*client
}

type client struct {
	config *rest.Config
	http   *http.Client
	host   string
}

// Config implements API.
func (a *directAPI) Config(member string) (*rest.Config, error) { return a.config(member) }

func (a *directAPI) RoundTrip(ctx context.Context, member string) (time.Duration, error) {
	c, err := a.client(member)
	if err != nil {
		return 0, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.host+lookupPath, nil)
	if err != nil {
		return 0, err
	}
	begin := a.clock.Now()
	response, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	took := a.clock.Since(begin)
	if err := response.Body.Close(); err != nil {
		return 0, err
	}
	if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusNotFound {
		return 0, fmt.Errorf("%s answered %d: %w", member, response.StatusCode, errAnswered)
	}
	return took, nil
}

func (a *directAPI) client(member string) (*client, error) {
	if c, ok := a.clients[member]; ok {
		return c, nil
	}
	config, err := a.config(member)
	if err != nil {
		return nil, err
	}
	connection, err := observe.Connect(config)
	if err != nil {
		return nil, err
	}
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, err
	}
	c := &client{config: config, http: connection, host: strings.TrimSuffix(base.String(), "/")}
	a.clients[member] = c
	return c, nil
}

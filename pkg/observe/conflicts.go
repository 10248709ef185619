package observe

import (
	"context"
	"fmt"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// requestCounter is the counter of answered requests, which every API server built on
// the Kubernetes libraries has.
const requestCounter = "apiserver_request_total"

// Conflicts is how many writes of a resource the server has answered with 409
// since it was started, by its own metrics. Writes that a server sends to itself
// are among them.
func (c *Client) Conflicts(ctx context.Context, resource string) (int64, error) {
	answer := c.Get(ctx, history.MetricsPath)
	switch {
	case answer.Err != nil:
		return 0, fmt.Errorf("read the metrics of %s: %w", c.member, answer.Err)
	case !answer.OK():
		return 0, fmt.Errorf("read the metrics of %s: it answered %d %s", c.member, answer.Code, answer.Message)
	}
	return Counted(answer.Body, requestCounter, map[string]string{"code": "409", "resource": resource}), nil
}

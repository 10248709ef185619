package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/evenkeel/evenkeel/pkg/observe"
)

// ofAny asks one member after the other until there is no error; then all errors are
// of no interest. Or else it returns those of all members.
func (r *Runner) ofAny(ask func(*observe.Client) error) error {
	var errs []error
	for _, member := range r.members() {
		client, err := r.client(member)
		if err == nil {
			err = ask(client)
			client.Close()
		}
		if err == nil {
			return nil
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// read fetches an object without recording it.
func read(ctx context.Context, client *observe.Client, path string, into any) error {
	answer := client.Get(ctx, path)
	if answer.Code != http.StatusOK {
		return fmt.Errorf("%s answered %d %s (%v)", client.Member(), answer.Code, answer.Message, answer.Err)
	}
	return json.Unmarshal(answer.Body, into)
}

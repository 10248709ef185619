package scenario

import (
	"context"
	"encoding/json"
	"errors"
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
		return &observe.Refusal{What: "read " + path, Member: client.Member(), Answer: answer}
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return notThere(client.Member(), "read %s through %s: the answer is no such object: %v", path, client.Member(), err)
	}
	return nil
}

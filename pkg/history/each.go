package history

import (
	"context"
	"errors"
	"io"
)

// Each gives all events of a history file to take, in their order, after its header
// to begin. Damage of the file is passed over: a judge tells of that. It fails
// where the file cannot be read, and when the context ends.
func Each(ctx context.Context, path string, begin func(Header), take func(*Event)) error {
	reader, err := Open(ctx, path)
	if err != nil {
		return err
	}
	begin(reader.Header)
	for {
		ev, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return reader.Close()
		}
		if err != nil {
			return errors.Join(err, reader.Close())
		}
		take(ev)
	}
}

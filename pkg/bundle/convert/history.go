package convert

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// from is the version of the format that this package converts.
const from = history.Version - 1

// History converts a history in plain text. The digests are those of converted files that
// the header names.
func History(in io.Reader, out io.Writer, digests map[string]string) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	for number := 1; ; number++ {
		line, err := readLine(lines)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d of the history: %w", number, err)
		}
		content, end := bytes.CutSuffix(line, []byte("\n"))
		var converted []byte
		var wrong error
		if number == 1 {
			converted, wrong = header(content, digests)
		} else {
			converted, wrong = event(content)
		}
		if wrong != nil {
			return fmt.Errorf("line %d of the history %w", number, wrong)
		}
		if end {
			converted = append(converted, '\n')
		}
		if _, wrong := out.Write(converted); wrong != nil {
			return fmt.Errorf("write the converted history: %w", wrong)
		}
		if err != nil {
			return nil
		}
	}
}

func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if len(line) > history.MaxLine {
			return nil, fmt.Errorf("it has more than %d bytes", history.MaxLine)
		}
	}
}

func header(line []byte, digests map[string]string) ([]byte, error) {
	o, err := parse(line)
	if err != nil {
		return nil, err
	}
	for _, change := range []error{
		o.edit("version", func(json.RawMessage) (json.RawMessage, error) { return json.Marshal(history.Version) }),
		o.edit("topology", within(func(t object) error {
			return t.edit("settings", within(func(s object) error { return s.rename(settings) }))
		})),
		o.edit("files", within(func(files object) error {
			for i, f := range files {
				if digest, ok := digests[f.name]; ok {
					files[i].value = text(digest)
				}
			}
			return nil
		})),
		o.rename(headerFields),
	} {
		if change != nil {
			return nil, change
		}
	}
	return o.bytes(), nil
}

// event converts a line. One that is no JSON object in UTF-8 breaks both formats, and stays
// as it is.
func event(line []byte) ([]byte, error) {
	if !utf8.Valid(line) {
		return bytes.Clone(line), nil
	}
	o, err := parse(line)
	if err != nil {
		return bytes.Clone(line), nil
	}
	for old, change := range payloads {
		if err := o.edit(old, within(func(p object) error {
			for name, values := range change.values {
				if err := p.edit(name, renamed(values)); err != nil {
					return err
				}
			}
			return p.rename(change.fields)
		})); err != nil {
			return nil, err
		}
	}
	if err := o.edit("kind", renamed(kinds)); err != nil {
		return nil, err
	}
	if err := o.rename(kinds); err != nil {
		return nil, err
	}
	return o.bytes(), nil
}

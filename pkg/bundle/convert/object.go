package convert

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// object is a JSON object with its fields in their order, and values as they are written.
type object []field

type field struct {
	name  string
	value json.RawMessage
}

var errNoObject = errors.New("is no JSON object")

// parse reads one object and nothing after it.
func parse(raw []byte) (object, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errNoObject
	}
	var out object
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, errNoObject
		}
		name, ok := token.(string)
		if !ok {
			return nil, errNoObject
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, errNoObject
		}
		out = append(out, field{name, value})
	}
	if _, err := decoder.Token(); err != nil {
		return nil, errNoObject
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errNoObject
	}
	return out, nil
}

// bytes writes it on one line.
func (o object) bytes() []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(text(f.name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// rename gives its fields their new names.
func (o object) rename(fields names) error {
	for i := range o {
		name, err := fields.of(o[i].name)
		if err != nil {
			return err
		}
		o[i].name = name
	}
	return nil
}

// edit replaces the value of each field of that name.
func (o object) edit(name string, change func(json.RawMessage) (json.RawMessage, error)) error {
	for i := range o {
		if o[i].name != name {
			continue
		}
		value, err := change(o[i].value)
		if err != nil {
			return err
		}
		o[i].value = value
	}
	return nil
}

// within edits an object that is a value. What is no object stays as it is: it breaks the
// format.
func within(change func(object) error) func(json.RawMessage) (json.RawMessage, error) {
	return func(raw json.RawMessage) (json.RawMessage, error) {
		inner, err := parse(raw)
		if err != nil {
			return raw, nil
		}
		if err := change(inner); err != nil {
			return nil, err
		}
		return inner.bytes(), nil
	}
}

// renamed gives a text its new name. What is no text stays as it is.
func renamed(values names) func(json.RawMessage) (json.RawMessage, error) {
	return func(raw json.RawMessage) (json.RawMessage, error) {
		var old string
		if json.Unmarshal(raw, &old) != nil {
			return raw, nil
		}
		name, err := values.of(old)
		if err != nil || name == old {
			return raw, err
		}
		return text(name), nil
	}
}

// text is a text in JSON.
func text(s string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A text can always be encoded, and a buffer always be written to.
	_ = encoder.Encode(s)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

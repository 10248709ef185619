package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"

	jsoniter "github.com/json-iterator/go"
)

const (
	readBuffer = 1 << 20
	// maxDamage is how many sentences of damage are kept; a file that is not a
	// history at all would else fill the report.
	maxDamage = 50
)

// lineDecoder reads the lines. The standard library's decoder takes some three
// times as long, which a long history makes felt.
var lineDecoder = jsoniter.ConfigCompatibleWithStandardLibrary

// Reader reads a history from its start. It never stops at damage that leaves
// later lines readable, and never hides it: see Damage.
type Reader struct {
	// Header is the first line.
	Header Header
	// Damage says, a sentence each, what is wrong with the file as far as it has
	// been read; it is complete once Next has returned io.EOF. A judge must not
	// pass anything over a damaged history.
	Damage []string

	in      *bufio.Reader
	plain   hash.Hash
	long    []byte
	line    int
	seq     int64
	ended   bool
	done    bool
	dropped int
	closers []io.Closer
}

// Open opens a history file; one that is compressed with gzip is recognised by
// its content.
func Open(path string) (*Reader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	r, err := NewReader(file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	r.closers = append(r.closers, file)
	return r, nil
}

// NewReader reads a history, compressed or not, from a stream. It fails when
// the first line is no header of this format and version.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{plain: sha256.New()}
	file := bufio.NewReader(in)
	in = file
	if magic, err := file.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		zipped, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("the gzip header cannot be read: %w", err)
		}
		r.closers = append(r.closers, zipped)
		in = zipped
	}
	r.in = bufio.NewReaderSize(io.TeeReader(in, r.plain), readBuffer)
	line, whole, err := r.readLine()
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read the header: %w", err)
	}
	if len(line) == 0 {
		return nil, errors.New("the file is empty: not even the header of a history was written")
	}
	if err := json.Unmarshal(line, &r.Header); err != nil {
		return nil, fmt.Errorf("the first line is not the header of a history: %w", err)
	}
	if r.Header.Format != Format {
		return nil, fmt.Errorf("the first line names the format %q, and not %q: this is no history", r.Header.Format, Format)
	}
	if r.Header.Version != Version {
		return nil, fmt.Errorf("the history has version %d of its format, and this evenkeel reads version %d only; judge it with the evenkeel that recorded it (%s)",
			r.Header.Version, Version, r.Header.Harness)
	}
	if !whole {
		r.damage("The history ends with its header, in the middle of the line.")
	}
	return r, nil
}

// Close closes the file.
func (r *Reader) Close() error {
	var errs []error
	for _, c := range r.closers {
		errs = append(errs, c.Close())
	}
	r.closers = nil
	return errors.Join(errs...)
}

// Digest is the SHA-256, in hexadecimal, of the history as plain text, whether or
// not the file is compressed. It is that of all that could be read once Next has
// returned io.EOF, and of nothing in particular before.
func (r *Reader) Digest() string { return hex.EncodeToString(r.plain.Sum(nil)) }

// Next returns the next event that can be read, or io.EOF. The event is the
// caller's to keep.
func (r *Reader) Next() (*Event, error) {
	for !r.done {
		line, whole, err := r.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			r.damage(fmt.Sprintf("After line %d the file cannot be read any further (%v): what followed is lost.", r.line, err))
		}
		if err != nil {
			// What is left over is decoded too: a last line may lack only its end.
			r.done = true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			if err == nil {
				r.damage(fmt.Sprintf("Line %d is empty.", r.line))
			}
			continue
		}
		e := new(Event)
		if decodeErr := lineDecoder.Unmarshal(line, e); decodeErr != nil || e.Seq == 0 {
			switch {
			case !whole:
				r.damage(fmt.Sprintf("The last line (line %d) is cut off: the recording ended in the middle of an event.", r.line))
			case decodeErr == nil:
				r.damage(fmt.Sprintf("Line %d is no event: it has no sequence number.", r.line))
			default:
				r.damage(fmt.Sprintf("Line %d is no event: it is not valid JSON of this format.", r.line))
			}
			continue
		}
		r.follow(e)
		if !e.told() {
			// A gap, say, whose payload is lost must not be passed over.
			r.damage(fmt.Sprintf("Line %d has the kind %q without its content, or a kind that this evenkeel does not know.", r.line, e.Kind))
		}
		return e, nil
	}
	r.finish()
	return nil, io.EOF
}

// follow checks the place of an event in the order.
func (r *Reader) follow(e *Event) {
	switch want := r.seq + 1; {
	case r.ended:
		r.damage(fmt.Sprintf("Event %d (line %d) comes after the end event.", e.Seq, r.line))
	case e.Seq == want+1:
		r.damage(fmt.Sprintf("Event %d is missing before line %d.", want, r.line))
	case e.Seq > want:
		r.damage(fmt.Sprintf("Events %d to %d are missing before line %d.", want, e.Seq-1, r.line))
	case e.Seq < want:
		r.damage(fmt.Sprintf("Line %d has the event number %d after %d: the lines are not in the order in which they were recorded.", r.line, e.Seq, r.seq))
	}
	r.seq = max(r.seq, e.Seq)
	if e.Kind == KindEnd {
		r.ended = true
	}
}

func (r *Reader) finish() {
	if r.line < 0 {
		return
	}
	if !r.ended {
		r.damage("There is no end event: the recording was cut off.")
	}
	if r.dropped > 0 {
		r.Damage = append(r.Damage, fmt.Sprintf("%d more kinds of damage like these were found.", r.dropped))
	}
	r.line = -1
}

func (r *Reader) damage(sentence string) {
	if len(r.Damage) >= maxDamage {
		r.dropped++
		return
	}
	r.Damage = append(r.Damage, sentence)
}

// readLine returns the next line without its end, and whether it had one. The
// bytes are valid until the next call.
func (r *Reader) readLine() (line []byte, whole bool, err error) {
	line, err = r.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		r.long = append(r.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			r.long = append(r.long, line...)
		}
		line = r.long
	}
	if len(line) > 0 {
		r.line++
	}
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1], true, err
	}
	return line, false, err
}

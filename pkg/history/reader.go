package history

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"reflect"

	jsoniter "github.com/json-iterator/go"

	"github.com/evenkeel/evenkeel/pkg/regular"
)

const readBuffer = 1 << 20

// lineDecoder reads the lines. The standard library's decoder takes some three
// times as long, which a long history makes felt.
var lineDecoder = jsoniter.ConfigCompatibleWithStandardLibrary

// Reader reads a history from its start, and holds it to its format while it reads: numbers
// and times are in order, every kind, member and value is one that there is. It never
// stops at damage that leaves later lines readable, and never hides it: see Damage. What
// breaks the format is no event, and Next passes it over.
type Reader struct {
	// Header is the first line.
	Header Header
	// Damage says, a sentence each, what is wrong with the file as far as it has
	// been read; it is complete once Next has returned io.EOF. A judge must not
	// pass anything over a damaged history.
	Damage []string

	ctx     context.Context // that of Open
	in      *bufio.Reader
	plain   hash.Hash
	long    []byte
	line    int
	seq     int64
	valid   validator
	ended   bool
	done    bool
	broken  int
	dropped int
	closers []io.Closer
}

// Open opens a history file; one that is compressed with gzip is recognized by
// its content. It must be a regular file, and no link to one. Reading fails when the
// context ends, in the middle of a long line too, which is no damage: see Next.
func Open(ctx context.Context, path string) (*Reader, error) {
	file, err := regular.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	r, err := NewReader(regular.Reader(ctx, file))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	r.ctx = ctx
	r.closers = append(r.closers, file)
	return r, nil
}

// NewReader reads a history, compressed or not, from a stream. It fails when
// the first line is no header of this format and version.
func NewReader(in io.Reader) (*Reader, error) {
	r := &Reader{ctx: context.Background(), plain: sha256.New()}
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
	r.in = bufio.NewReaderSize(io.TeeReader(&bounded{in: in, left: MaxSize}, r.plain), readBuffer)
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
	if r.Header.Version > 0 && r.Header.Version < Version {
		return nil, fmt.Errorf("the history has version %d of its format, and this evenkeel reads version %d: run `evenkeel bundle migrate` on the bundle", r.Header.Version, Version)
	}
	if r.Header.Version != Version {
		return nil, fmt.Errorf("the history has version %d of its format, and this evenkeel reads version %d only; judge it with the evenkeel that recorded it (%s)",
			r.Header.Version, Version, r.Header.Harness)
	}
	if problem := headerProblem(&r.Header); problem != "" {
		return nil, fmt.Errorf("the header of the history breaks the format: %s", problem)
	}
	r.valid = newValidator(&r.Header)
	if problem := text(reflect.TypeFor[Header](), line); problem != "" {
		r.damage(fmt.Sprintf("The header %s.", problem))
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

// Next returns the next event that keeps the format, or io.EOF. The event is the
// caller's to keep. Any other error is that the context of Open has ended.
func (r *Reader) Next() (*Event, error) {
	for !r.done {
		line, whole, err := r.readLine()
		if r.ctx.Err() != nil {
			return nil, errors.New("it was interrupted")
		}
		if err != nil && !errors.Is(err, io.EOF) {
			r.damage(fmt.Sprintf("After line %d the file cannot be read any further (%v): what followed is lost.", r.line, err))
		}
		if err != nil {
			// What is left over is decoded too: a last line may lack only its end.
			r.done = true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			if err == nil {
				r.breaks("is empty")
			}
			continue
		}
		e := &Event{At: absent}
		if decodeErr := lineDecoder.Unmarshal(line, e); decodeErr != nil || e.Seq == 0 {
			switch {
			case !whole:
				r.damage(fmt.Sprintf("The last line (line %d) is cut off: the recording ended in the middle of an event.", r.line))
			case decodeErr == nil:
				r.breaks("is no event: it has no sequence number")
			default:
				r.breaks("is no event: it is not valid JSON of this format")
			}
			continue
		}
		if r.follow(e) && r.keeps(line, e) {
			r.valid.take(e)
			return e, nil
		}
	}
	r.finish()
	return nil, io.EOF
}

// keeps is whether a line and its event keep the format.
func (r *Reader) keeps(line []byte, e *Event) bool {
	problem := text(reflect.TypeFor[Event](), line)
	if problem == "" {
		problem = r.valid.event(e)
	}
	if problem != "" {
		r.breaks(problem)
	}
	return problem == ""
}

// breaks notes that the line breaks the format. Of a file with too many such lines no more
// is read.
func (r *Reader) breaks(how string) {
	r.damage(fmt.Sprintf("Line %d %s.", r.line, how))
	if r.broken++; r.broken == maxBroken {
		r.done = true
		// This must not be among the sentences that are too many.
		r.Damage = append(r.Damage, fmt.Sprintf("%d lines break the format: what follows line %d was not read.", r.broken, r.line))
	}
}

// follow checks the place of an event among the numbers; it is false for one that came
// before.
func (r *Reader) follow(e *Event) bool {
	want := r.seq + 1
	if e.Seq < want {
		r.breaks(fmt.Sprintf("has the event number %d after %d: the lines are not in the order in which they were recorded", e.Seq, r.seq))
		return false
	}
	if r.ended {
		r.damage(fmt.Sprintf("Event %d (line %d) comes after the end event.", e.Seq, r.line))
	}
	switch {
	case e.Seq == want+1:
		r.damage(fmt.Sprintf("Event %d is missing before line %d.", want, r.line))
	case e.Seq > want:
		r.damage(fmt.Sprintf("Events %d to %d are missing before line %d.", want, e.Seq-1, r.line))
	}
	r.seq = e.Seq
	r.ended = r.ended || e.Kind == KindEnd
	return true
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
			if len(r.long) > MaxLine {
				return nil, false, fmt.Errorf("line %d has more than %d bytes", r.line+1, MaxLine)
			}
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

// bounded fails where more is read than a history may have.
type bounded struct {
	in   io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(into []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a history has at most %d bytes", int64(MaxSize))
	}
	n, err := b.in.Read(into[:min(int64(len(into)), b.left)])
	b.left -= int64(n)
	return n, err
}

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A made-up server that tells of a change some questions after it was made.
func TestChange(t *testing.T) {
	var made, asked atomic.Int64
	const late = 3
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := "old"
		if made.Load() > 0 && asked.Add(1) > late {
			text = "new"
		}
		tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write([]byte(text))
	}))
	defer server.Close()
	c := &client{http: server.Client(), url: server.URL}
	took, err := timeChange(t.Context(), c, func(context.Context) error { made.Add(1); return nil }, []byte("new"), true)
	if err != nil || took <= 0 || took > time.Minute {
		t.Errorf("the change took %s (%v)", took, err)
	}
	if asked.Load() != late+1 {
		t.Errorf("%d questions were asked after the change, want %d", asked.Load(), late+1)
	}
	_, err = timeChange(t.Context(), c, func(context.Context) error { return nil }, []byte("new"), true)
	if err == nil || !strings.Contains(err.Error(), "before it is made") {
		t.Errorf("a change that is there already was timed (%v)", err)
	}
}

// Only what the server took can be late; all else is no figure.
func TestWhatIsLate(t *testing.T) {
	bounded, cancel := context.WithCancelCause(t.Context())
	cancel(errUnseen)
	if err := late(bounded, true, context.Canceled); !errors.Is(err, errUnseen) {
		t.Errorf("what was taken and not seen: %v", err)
	}
	if err := late(bounded, false, context.Canceled); err == nil || errors.Is(err, errUnseen) {
		t.Errorf("what was not taken: %v", err)
	}
	refused := errors.New("refused")
	if err := late(t.Context(), true, refused); !errors.Is(err, refused) {
		t.Errorf("what failed for another reason: %v", err)
	}
}

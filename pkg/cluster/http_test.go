package cluster

import (
	"testing"
	"time"
)

func TestHTTPFaultHits(t *testing.T) {
	for _, tc := range []struct {
		method, path string
		asked        [2]string
		hits         bool
	}{
		{"", "", [2]string{"GET", "/x"}, true},
		{"GET", "/x", [2]string{"GET", "/x"}, true},
		{"GET", "/x", [2]string{"PUT", "/x"}, false},
		{"GET", "/x", [2]string{"GET", "/xy"}, false},
		{"", "/apis/*", [2]string{"GET", "/apis/a/b"}, true},
		{"", "/apis/*", [2]string{"GET", "/api"}, false},
		{"", "/c/*leases*", [2]string{"GET", "/c/leases"}, true},
		{"", "/c/*leases*", [2]string{"GET", "/c/namespaces/n/leases/x"}, true},
		{"", "/c/*leases", [2]string{"GET", "/c/namespaces/n/leases/x"}, false},
		{"", "/c/*/status", [2]string{"GET", "/c/a/status"}, true},
		{"", "*", [2]string{"GET", ""}, true},
	} {
		if got := (HTTPFault{Method: tc.method, Path: tc.path}).Hits(tc.asked[0], tc.asked[1]); got != tc.hits {
			t.Errorf("%s %q hits %v: %v", tc.method, tc.path, tc.asked, got)
		}
	}
}

func TestHTTPFaultValidate(t *testing.T) {
	for _, tc := range []struct {
		fault HTTPFault
		valid bool
	}{
		{HTTPFault{}, false},
		{HTTPFault{Abort: true}, true},
		{HTTPFault{Abort: true, Answers: true}, true},
		{HTTPFault{Delay: time.Second}, true},
		{HTTPFault{Delay: -time.Second}, false},
		{HTTPFault{Delay: time.Second, Abort: true}, false},
		{HTTPFault{Code: 500, Answers: true}, true},
		{HTTPFault{Code: 500}, false},
		{HTTPFault{Code: 200, Answers: true}, false},
		{HTTPFault{Abort: true, Every: 10}, true},
		{HTTPFault{Abort: true, Every: -1}, false},
	} {
		if err := tc.fault.Validate(); (err == nil) != tc.valid {
			t.Errorf("%+v: %v", tc.fault, err)
		}
	}
}

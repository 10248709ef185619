package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

func TestOutside(t *testing.T) {
	missing, err := outside("Name:\tx\nCapBnd:\t000001fffeffffff\nCapAmb:\t0\n")
	if err != nil || !reflect.DeepEqual(missing, map[string]bool{"CAP_SYS_RESOURCE": true}) {
		t.Errorf("%v, %v", missing, err)
	}
	if missing, err := outside("CapBnd:\t000001ffffffffff\n"); err != nil || len(missing) != 0 {
		t.Errorf("a full set lacks %v, %v", missing, err)
	}
	for _, bad := range []string{"", "CapBnd:\tx\n"} {
		if _, err := outside(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestProcessFile(t *testing.T) {
	for _, tc := range []struct {
		args, path string
		nested     bool
	}{
		{"--root /r --log /l --log-format json create --bundle /b --pid-file /p id", "/b/config.json", true},
		{"--root=/r --systemd-cgroup create -b /b id", "/b/config.json", true},
		{"run id", "config.json", true},
		{"--log /create exec --process /p.json --detach id", "/p.json", false},
		{"exec -p=/p.json id", "/p.json", false},
		{"exec id true", "", false},
		{"--root /r delete id", "", false},
		{"--version", "", false},
	} {
		if path, nested := processFile(strings.Fields(tc.args)); path != tc.path || nested != tc.nested {
			t.Errorf("%s: %q %v, want %q %v", tc.args, path, nested, tc.path, tc.nested)
		}
	}
}

func TestPermitFile(t *testing.T) {
	const process = `{"args":["x"],"oomScoreAdj":-500,"capabilities":{"bounding":["CAP_KILL","CAP_SYS_RESOURCE"],"ambient":null},"big":12345678901234567890}`
	const permitted = `{"args":["x"],"oomScoreAdj":0,"capabilities":{"bounding":["CAP_KILL"],"ambient":null},"big":12345678901234567890}`
	resource := map[string]bool{"CAP_SYS_RESOURCE": true}
	for _, tc := range []struct {
		name, before, after string
		nested              bool
		missing             map[string]bool
	}{
		{"a bundle", `{"ociVersion":"1.0.2","process":` + process + `}`, `{"ociVersion":"1.0.2","process":` + permitted + `}`, true, resource},
		{"an exec", process, permitted, false, resource},
		{"a score that may be", `{"oomScoreAdj":7}`, `{"oomScoreAdj":7}`, false, resource},
		{"another capability", `{"oomScoreAdj":-7,"capabilities":{"effective":["CAP_BPF"]}}`, `{"oomScoreAdj":-7,"capabilities":{"effective":[]}}`, false,
			map[string]bool{"CAP_BPF": true}},
		{"no process", `{"hostname":"x"}`, `{"hostname":"x"}`, true, resource},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "file.json")
			if err := os.WriteFile(path, []byte(tc.before), 0o640); err != nil {
				t.Fatal(err)
			}
			if err := permitFile(path, tc.nested, tc.missing); err != nil {
				t.Fatal(err)
			}
			raw, err := os.ReadFile(path)
			if err != nil || !sameJSON(t, string(raw), tc.after) {
				t.Errorf("%s, want %s (%v)", raw, tc.after, err)
			}
		})
	}
}

func TestWhatCannotBeRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.json")
	if err := permitFile(path, true, nil); err == nil {
		t.Error("a file that is not there was taken")
	}
	for _, bad := range []string{`[]`, `{"process":{"capabilities":1}}`, `{"process":{"oomScoreAdj":"x"}}`} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := permitFile(path, true, map[string]bool{"CAP_SYS_RESOURCE": true}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// sameJSON compares without losing digits of numbers.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var values [2]any
	for i, text := range []string{a, b} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&values[i]); err != nil {
			t.Fatal(err)
		}
	}
	return reflect.DeepEqual(values[0], values[1])
}

package timeline

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/evenkeel/evenkeel/pkg/report/style"
)

// The contrasts that WCAG 2.2 asks for: of graphics (1.4.11) and of text (1.4.3).
const (
	graphicsContrast = 3
	textContrast     = 4.5
)

var colorRule = regexp.MustCompile(`--([a-z0-9]+): #([0-9a-f]{6});`)

// What the chart draws, and what it writes, stands out in both color schemes.
func TestColors_HaveContrast(t *testing.T) {
	light, dark, found := strings.Cut(style.Sheet(pageCSS), "@media (prefers-color-scheme: dark)")
	if !found {
		t.Fatal("there is no dark color scheme")
	}
	dark, _, _ = strings.Cut(dark, "\n}\n")
	for scheme, css := range map[string]string{"light": light, "dark": dark} {
		colors := map[string]float64{}
		for _, rule := range colorRule.FindAllStringSubmatch(css, -1) {
			colors[rule[1]] = luminance(t, rule[2])
		}
		atLeast := func(least float64, ground string, of ...string) {
			for _, name := range of {
				a, b := colors[name], colors[ground]
				if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < least {
					t.Errorf("%s: --%s on --%s has a contrast of %.2f, less than %v", scheme, name, ground, got, least)
				}
			}
		}
		atLeast(graphicsContrast, "row", "density", "edge", "dead", "silent", "error", "barrier", "breach", "witness", "paused", "unsure", "other", "cursor")
		for i := range 8 {
			atLeast(textContrast, fmt.Sprintf("c%d", i), "on")
		}
		for _, ground := range []string{"ground", "panel", "row", "step", "hold"} {
			atLeast(textContrast, ground, "ink")
		}
		for _, ground := range []string{"ground", "panel"} {
			atLeast(textContrast, ground, "faint", "link", "pass", "fail", "unsure", "other")
		}
	}
}

// luminance is the relative luminance of a color as WCAG defines it.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		value, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		c := float64(value) / 255
		if c <= 0.04045 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}

package bench

import (
	"math"
	"testing"
)

func TestUnits(t *testing.T) {
	for got, want := range map[string]string{
		Milliseconds(0.0001234): "0.12 ms", Milliseconds(0.0123): "12.3 ms", Milliseconds(1.234): "1234 ms",
		Kilobytes(74_000): "74 kB", Kilobytes(1234): "1.2 kB", Mebibytes(3 << 30): "3072 MiB",
		Seconds(1.234): "1.23 s", Seconds(23.46): "23.5 s", Seconds(math.Inf(1)): "∞ s", PerMinute(30.04): "30.04/min", PerMinute(121.63): "121.6/min",
		Count(602): "602", PerSecond(199.6): "200/s", Milliseconds(math.NaN()): "– ms",
		Ratio(0.0456): "0.046", Ratio(0.456): "0.46", Ratio(45.67): "45.7", Ratio(math.NaN()): "–",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package discovery

import "time"

// pauseUntilFetch is how long to wait after a fetch from a server, when the
// given number of fetches in a row have failed: the interval, or a pause that
// doubles with each failure. Luck, between 0 and 1, scatters it over its upper
// half, so that servers do not ask all at once.
func pauseUntilFetch(failed int, luck float64) time.Duration {
	pause := FetchInterval
	if failed > 0 {
		pause = fetchRetry
		for i := 1; i < failed && pause < fetchRetryMax; i++ {
			pause *= 2
		}
		pause = min(pause, fetchRetryMax)
	}
	return pause/2 + time.Duration(luck*float64(pause)/2)
}

// conditional reports whether the next fetch may ask only for news, after so
// many in a row that did.
func conditional(tag string, inARow int) bool { return tag != "" && inARow < fullEvery-1 }

package docs

import (
	"fmt"
	"regexp"
	"strings"
)

// Command is a command line of a document.
type Command struct {
	// Where is the file and the line.
	Where string
	// Variables are set before the command, such as A=b.
	Variables []string
	// Words are the program and its arguments.
	Words []string
	// Output is the file that its output is sent to, empty without one.
	Output string
}

var assignment = regexp.MustCompile(`^[A-Z_]+=`)

// Commands gives the command lines of all sh blocks. A document is to be read by people,
// so it holds commands with arguments, comments and a redirection, and no other syntax of
// a shell: anything else is an error.
func (d Document) Commands() ([]Command, error) {
	var all []Command
	for _, block := range d.Blocks() {
		if block.Language != "sh" {
			continue
		}
		for i, line := range block.Lines {
			where := fmt.Sprintf("%s:%d", d.File, block.Line+i)
			words, err := split(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", where, err)
			}
			if len(words) == 0 {
				continue
			}
			command := Command{Where: where}
			for len(words) > 0 && assignment.MatchString(words[0]) {
				command.Variables, words = append(command.Variables, words[0]), words[1:]
			}
			if n := len(words); n > 2 && words[n-2] == ">" {
				command.Output, words = words[n-1], words[:n-2]
			}
			if len(words) == 0 {
				return nil, fmt.Errorf("%s: there is no command in %q", where, line)
			}
			for _, word := range words {
				if word == ">" || word == "|" || word == "&&" || strings.HasSuffix(word, ";") {
					return nil, fmt.Errorf("%s: %q has syntax of a shell that documents do without: write a line for each command", where, line)
				}
			}
			command.Words = words
			all = append(all, command)
		}
	}
	return all, nil
}

// split gives the words of a line as a shell does: quotes join what is in them, and a word
// that begins with # begins a comment.
func split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	quote, inWord := rune(0), false
	end := func() {
		if inWord {
			words = append(words, word.String())
		}
		word.Reset()
		inWord = false
	}
	for _, r := range line {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord = r, true
		case r == ' ' || r == '\t':
			end()
		case r == '#' && !inWord:
			return words, nil
		default:
			word.WriteRune(r)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c does not end in %q", quote, line)
	}
	end()
	return words, nil
}

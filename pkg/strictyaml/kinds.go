package strictyaml

import (
	"fmt"
	"strings"
)

// How values that are made of others are called.
const aGroup, aList = "a group of keys", "a list"

// mismatch says that a value is of one kind where one of another is needed.
func mismatch(is, goType string) string {
	want := needed(goType)
	// The name of a type does not tell what it is; that it is none of what stands there is
	// known.
	if want == "" {
		switch is {
		case aGroup:
			want = "a single value"
		case aList:
			want = "no list"
		default:
			want = aGroup
		}
	}
	return fmt.Sprintf("%s, where %s is needed", is, want)
}

// tagged is a value as YAML tags it, with what stands there.
func tagged(tag, value string) string {
	switch tag {
	case "map":
		return aGroup
	case "seq":
		return aList
	case "null":
		return "nothing"
	case "bool":
		return fmt.Sprintf("a truth value (%s)", value)
	case "int", "float":
		return fmt.Sprintf("a number (%s)", value)
	default:
		return fmt.Sprintf("a text (%q)", value)
	}
}

// valued is a value as the JSON library calls its kind: "string", "number 3.5".
func valued(kind string) string {
	kind, value, _ := strings.Cut(kind, " ")
	tag := map[string]string{"object": "map", "array": "seq", "bool": "bool", "number": "int", "null": "null"}[kind]
	switch {
	case tag == "int" && value != "":
		return tagged(tag, value)
	case tag == "map" || tag == "seq" || tag == "null":
		return tagged(tag, "")
	case tag == "":
		return "a text"
	case tag == "bool":
		return "a truth value"
	default:
		return "a number"
	}
}

// needed is what a Go type wants in a file, "" where its name does not tell.
func needed(goType string) string {
	goType = strings.TrimLeft(goType, "*")
	switch {
	case strings.HasPrefix(goType, "[]"):
		return aList
	case strings.HasSuffix(goType, "uration"):
		return "a time such as 10s"
	case strings.HasPrefix(goType, "int"), strings.HasPrefix(goType, "uint"):
		return "a whole number"
	case strings.HasPrefix(goType, "float"):
		return "a number"
	case goType == "bool":
		return "true or false"
	case goType == "string":
		return "a text"
	case strings.HasPrefix(goType, "map["), strings.HasPrefix(goType, "struct"):
		return aGroup
	default:
		return ""
	}
}

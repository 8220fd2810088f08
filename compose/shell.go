package compose

import (
	"slices"
	"strings"
)

// simple is one command of a shell's script.
type simple struct {
	words      []string // without quotes; $(…) stands as written
	after      string   // the operator behind it: ; & && || | or "" at the end
	redirected bool
}

// reserved words begin or end what is more than a list of commands.
var reserved = []string{"if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "{", "}", "!", "function", "select"}

// shellCommands takes a script apart as far as the commands in it. plain is
// false when it is more than commands and operators, so that it cannot be told
// which of them run.
func shellCommands(script string) (commands []simple, plain bool) {
	l := lexer{rest: strings.ReplaceAll(script, "\\\n", ""), plain: true}
	for l.rest != "" {
		l.next()
	}
	l.end("")
	return l.commands, l.plain
}

// lexer is the state of taking a script apart.
type lexer struct {
	rest     string
	word     strings.Builder
	inWord   bool
	skipWord bool // it is where a redirection goes
	current  simple
	commands []simple
	plain    bool
}

// operators between commands, longer ones first.
var operators = []string{"&&", "||", ";;", "|&", ";", "&", "|", "\n", "(", ")"}

func (l *lexer) next() {
	c := l.rest[0]
	switch {
	case c == ' ' || c == '\t' || c == '\r':
		l.endWord()
		l.rest = l.rest[1:]
	case c == '#' && !l.inWord:
		i := strings.IndexByte(l.rest, '\n')
		if i < 0 {
			i = len(l.rest)
		}
		l.rest = l.rest[i:]
	case c == '\'' || c == '"':
		l.quoted(c)
	case c == '\\' && len(l.rest) > 1:
		l.put(l.rest[1:2])
		l.rest = l.rest[2:]
	case strings.HasPrefix(l.rest, "$(") || c == '`':
		l.substitution()
	case c == '<' || c == '>' || strings.HasPrefix(l.rest, "&>"):
		l.redirection()
	default:
		for _, op := range operators {
			if strings.HasPrefix(l.rest, op) {
				l.rest = l.rest[len(op):]
				l.operator(op)
				return
			}
		}
		l.put(l.rest[:1])
		l.rest = l.rest[1:]
	}
}

func (l *lexer) operator(op string) {
	switch op {
	case "(", ")", ";;":
		l.plain = false
		op = ";"
	case "\n":
		op = ";"
	case "|&":
		op = "|"
	}
	l.end(op)
}

func (l *lexer) put(s string) {
	l.word.WriteString(s)
	l.inWord = true
}

// quoted reads what is between two quotes.
func (l *lexer) quoted(quote byte) {
	l.inWord = true
	l.rest = l.rest[1:]
	for l.rest != "" && l.rest[0] != quote {
		switch {
		case quote == '"' && l.rest[0] == '\\' && len(l.rest) > 1 && strings.IndexByte("\"\\$`", l.rest[1]) >= 0:
			l.put(l.rest[1:2])
			l.rest = l.rest[2:]
		case quote == '"' && (strings.HasPrefix(l.rest, "$(") || l.rest[0] == '`'):
			l.substitution()
		default:
			l.put(l.rest[:1])
			l.rest = l.rest[1:]
		}
	}
	if l.rest == "" {
		l.plain = false
		return
	}
	l.rest = l.rest[1:]
}

// substitution reads a command whose output is put in, and writes it as $(…).
func (l *lexer) substitution() {
	end := -1
	if l.rest[0] == '`' {
		if i := strings.IndexByte(l.rest[1:], '`'); i >= 0 {
			l.put("$(" + l.rest[1:i+1] + ")")
			l.rest = l.rest[i+2:]
			return
		}
	} else {
		end = closingParen(l.rest)
	}
	if end < 0 {
		l.plain = false
		l.put(l.rest)
		l.rest = ""
		return
	}
	l.put(l.rest[:end+1])
	l.rest = l.rest[end+1:]
}

// closingParen is the index of the parenthesis that closes the first one of s.
func closingParen(s string) int {
	depth, quote := 0, byte(0)
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// redirection drops where input comes from and output goes to.
func (l *lexer) redirection() {
	if text := l.word.String(); l.inWord && strings.Trim(text, "0123456789") == "" {
		l.word.Reset() // the number of a descriptor
		l.inWord = false
	}
	l.endWord()
	if strings.HasPrefix(l.rest, "<<") || strings.HasPrefix(l.rest, "<(") || strings.HasPrefix(l.rest, ">(") {
		l.plain = false
	}
	l.rest = strings.TrimLeft(l.rest, "<>&|- \t")
	l.current.redirected, l.skipWord = true, l.rest != "" && !strings.ContainsRune(";\n)", rune(l.rest[0]))
}

func (l *lexer) endWord() {
	if l.inWord && !l.skipWord {
		word := l.word.String()
		if len(l.current.words) == 0 && slices.Contains(reserved, word) {
			l.plain = false
		}
		l.current.words = append(l.current.words, word)
	}
	if l.inWord {
		l.skipWord = false
	}
	l.word.Reset()
	l.inWord = false
}

func (l *lexer) end(operator string) {
	l.endWord()
	l.skipWord = false
	if len(l.current.words) == 0 {
		// Reserved words, empty lines and the like.
		if n := len(l.commands); n > 0 && l.commands[n-1].after == "" {
			l.commands[n-1].after = operator
		}
		l.current = simple{}
		return
	}
	l.current.after = operator
	l.commands = append(l.commands, l.current)
	l.current = simple{}
}

// inits are programs that start another one as their child, as PID 1 should.
var inits = []string{"tini", "tini-static", "dumb-init", "docker-init", "catatonit"}

// wrappers are programs that become another one, with how many of their
// arguments are their own.
var wrappers = map[string]int{
	"exec": 0, "command": 0, "env": 0, "nice": 0, "nohup": 0, "stdbuf": 0, "setpriv": 0, "ionice": 0,
	"gosu": 1, "su-exec": 1, "timeout": 1,
	"tini": 0, "tini-static": 0, "dumb-init": 0, "docker-init": 0, "catatonit": 0,
}

// withValue are options of wrappers that take one more argument.
var withValue = []string{"-n", "-u", "-s", "-k", "-p", "-c", "-o", "-e", "--signal", "--kill-after", "--adjustment", "--unset",
	"--reuid", "--regid", "--groups", "--inh-caps", "--ambient-caps", "--bounding-set"}

// unwrap is the command line without what only prepares it: assignments,
// reserved words, and programs that become the one they are given.
func unwrap(args []string) []string {
	for len(args) > 0 {
		first := args[0]
		name, _, assigns := strings.Cut(first, "=")
		own, wraps := wrappers[program(first)]
		switch {
		case assigns && name != "" && wordLength(name) == len(name), slices.Contains(reserved, first):
			args = args[1:]
			continue
		case !wraps:
			return args
		}
		args = args[1:]
		for len(args) > 0 && strings.HasPrefix(args[0], "-") {
			option := args[0]
			args = args[1:]
			if option == "--" {
				break
			}
			if slices.Contains(withValue, option) && len(args) > 0 {
				args = args[1:]
			}
		}
		args = args[min(own, len(args)):]
	}
	return args
}

package compose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/startgate/startgate/envcheck"
)

// secretEnds are the ends of names of variables that hold secrets.
var secretEnds = []string{
	"PASSWORD", "PASSWD", "SECRET", "TOKEN", "API_KEY", "APIKEY", "PRIVATE_KEY", "SECRET_KEY", "SECRET_KEY_BASE", "ACCESS_KEY",
	"ENCRYPTION_KEY", "REDISCLI_AUTH",
}

// secretName reports whether a name is one for a secret.
func secretName(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r == '.' || r == '-' {
			return '_'
		}
		return r
	}, strings.ToUpper(name))
	return slices.ContainsFunc(secretEnds, func(end string) bool { return strings.HasSuffix(name, end) })
}

// declaredSecrets are the keys that the contracts of the stack's workers
// declare as secret.
func (s *stack) declaredSecrets() []string {
	var found []string
	for _, c := range s.contracts() {
		for _, k := range c.Keys {
			if k.Secret && k.Type != envcheck.TypeRedis && k.Type != envcheck.TypePostgres {
				found = append(found, string(k.Key))
			}
		}
	}
	return found
}

// literal says where a text that is meant for a secret has one.
type literal uint8

const (
	noLiteral literal = iota
	asText
	asDefault // of a variable
)

// literalSecret tells whether a text with its variables holds a secret. One
// that is put together of variables and text is not judged.
func literalSecret(symbolic string) literal {
	used := variables(symbolic)
	if len(used) == 0 && secretText(symbolic) {
		return asText
	}
	for _, v := range used {
		if (v.form == orDefault || v.form == orDefaultAny) && len(variables(v.rest)) == 0 && secretText(v.rest) {
			return asDefault
		}
	}
	return noLiteral
}

// secretText reports whether a text without variables can be a secret: it is no
// switch, no number, no file, no reference to a store of secrets, and nothing
// that the container's shell fills in.
func secretText(s string) bool {
	s = strings.TrimSpace(s)
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return false
	}
	switch strings.ToLower(s) {
	case "", "true", "false", "yes", "no", "on", "off", "null", "none", "enabled", "disabled":
		return false
	}
	elsewhere := slices.ContainsFunc([]string{"/", "file:", "op://", "arn:", "vault:"}, func(start string) bool { return strings.HasPrefix(s, start) })
	return !elsewhere && !strings.Contains(s, "$")
}

// urlPassword tells how the password in the authority of a URL is written.
func urlPassword(symbolic string) (lit literal, variable bool) {
	rest, _ := holes(symbolic)
	lit, variable = passwordIn(rest)
	for _, v := range variables(symbolic) {
		if v.form != orDefault && v.form != orDefaultAny {
			continue
		}
		inside, _ := holes(v.rest)
		switch l, filled := passwordIn(inside); {
		case l == asText:
			lit = asDefault
		case filled:
			variable = true
		}
	}
	return lit, variable
}

// passwordIn looks at one text whose variables are holes. What RabbitMQ lets
// in without being told to is no secret.
func passwordIn(s string) (lit literal, variable bool) {
	login, ok := userinfo(s)
	if !ok {
		return noLiteral, false
	}
	_, password, _ := strings.Cut(login, ":")
	switch {
	case password == "", login == "guest:guest", strings.ContainsAny(password, "{<"):
		return noLiteral, false
	case strings.Contains(password, hole), strings.Contains(password, "$"):
		return noLiteral, true
	}
	return asText, false
}

// userinfo is what stands before the host of a URL whose variables are holes.
func userinfo(s string) (login string, ok bool) {
	_, rest, found := strings.Cut(s, "://")
	if i := strings.IndexAny(rest, "/?# \t\n\"'`"); i >= 0 {
		rest = rest[:i]
	}
	i := strings.LastIndexByte(rest, '@')
	if !found || i < 0 {
		return "", false
	}
	return rest[:i], true
}

// passwordFlags are options of a server that a password follows, and
// clientFlags those of its command-line client.
var (
	passwordFlags = []string{"--requirepass", "--masterauth", "--password", "--redis-password"}
	clientFlags   = []string{"-a", "--pass"}
	clientNames   = []string{"redis-cli", "valkey-cli", "keydb-cli"}
)

// password is one in a command line, not in a URL.
type password struct {
	word
	client bool // other processes see it, also where a variable has it
}

// passwords are those that follow an option in the service's command lines.
func (v *service) passwords() []password {
	var found []password
	client := false
	all := v.commandWords()
	for i, w := range all {
		client = client && !w.first || slices.Contains(clientNames, program(w.symbolic))
		flag, value, valued := strings.Cut(w.symbolic, "=")
		ofClient := client && slices.Contains(clientFlags, flag)
		if !ofClient && !slices.Contains(passwordFlags, flag) {
			continue
		}
		p := password{w, ofClient || flag != "--requirepass" && flag != "--masterauth"}
		switch {
		case valued:
			p.text = v.stack.environment.interpolate(value)
		case i+1 < len(all) && !strings.HasPrefix(all[i+1].symbolic, "-"):
			p.word = all[i+1]
		default:
			continue
		}
		found = append(found, p)
	}
	return found
}

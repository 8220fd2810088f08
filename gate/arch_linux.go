package gate

import "github.com/startgate/startgate/envcheck"

// architectures are those that Go, and so the gate, can be built for. Class
// and data are the ELF header's: 32 or 64 bits, little or big endian.
var architectures = [...]struct {
	arch        string
	machine     uint16
	class, data byte
	reason      envcheck.Reason
}{
	{"amd64", 62, 2, 1, envcheck.WrongArchAMD64},
	{"arm64", 183, 2, 1, envcheck.WrongArchARM64},
	{"386", 3, 1, 1, envcheck.WrongArch386},
	{"arm", 40, 1, 1, envcheck.WrongArchARM},
	{"ppc64le", 21, 2, 1, envcheck.WrongArchPPC64LE},
	{"ppc64", 21, 2, 2, envcheck.WrongArchPPC64},
	{"s390x", 22, 2, 2, envcheck.WrongArchS390X},
	{"riscv64", 243, 2, 1, envcheck.WrongArchRISCV64},
	{"loong64", 258, 2, 1, envcheck.WrongArchLoong64},
	{"mips64le", 8, 2, 1, envcheck.WrongArchMIPS},
	{"mips64", 8, 2, 2, envcheck.WrongArchMIPS},
	{"mipsle", 8, 1, 1, envcheck.WrongArchMIPS},
	{"mips", 8, 1, 2, envcheck.WrongArchMIPS},
}

// architecture returns GOARCH's name for what an ELF header says.
func architecture(machine uint16, class, data byte) string {
	for _, a := range architectures {
		if a.machine == machine && a.class == class && a.data == data {
			return a.arch
		}
	}
	return ""
}

// foreignReason is why a program for arch does not run here.
func foreignReason(arch string) envcheck.Reason {
	for _, a := range architectures {
		if a.arch == arch {
			return a.reason
		}
	}
	return envcheck.WrongArchOther
}

// Nop is a program that does nothing: what any Go program takes.
package main

func main() {}

/** Lines of `ssh-keygen`, and what `ssh-keygen -l -E md5` says of them. */
export const publicKeys: readonly { readonly line: string; readonly fingerPrint: string }[] = [
  {
    line: 'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQDFICSSQcqOgwWoEzKWT22HSON3p/zVhUNz6bdtF3MwR1CHCzethkehrBuYQk5sYK6xF26oW4Lz0PccUvDA1lzw6+RZTwtq0dToq8TU+JFOkxzrRZm8rJP+EsOUABipiUQDDi4tXdYul8gnDeuOzmdfEFclNxXU1b4/7OZ8NekjEFiORRM9K6pDR3w268TVy7uRvJ7uQs4G6BB0tVxpf0BapnMY1eOMqa4fsxHqAe2eDm9ZIGulc4XoK2UfCrsfDcTssmZBzDxnbXk7PGbXUEe83XGvJoXCgw8fMuiOB+n/JFaYwrRxTpR2kl0eHmf7tLGAsQtMvXTTnUb29TJFaSXb me@host',
    fingerPrint: 'c6:21:80:f0:43:d3:d9:39:45:d4:65:f4:be:b2:eb:13',
  },
  {
    line: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMOcv1HsBRyRjwPlPHbKyqBwRFP7KNVwCG7/Ru+G51xY me@host',
    fingerPrint: '4f:8d:d6:1c:94:3c:d8:c9:7a:1e:57:d7:7c:77:04:6c',
  },
  {
    line: 'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBA7m/D8IKnL1poWXD5VsCXiZ4OMUJTR3Y/di6XVahlynhlZlGoo/fum7qN48zDVnigUmetnF+ocPh4drXJWGRJo= me@host',
    fingerPrint: '04:02:c1:22:23:93:14:36:84:8e:bd:dd:60:3a:c5:c4',
  },
  {
    line: 'ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBO5a7O3Z64YfCQGQVRriTnYwj16w3I662SPLF3Ag2rl8DhpSM0/pk2KZDogu6NiCL72brDgKpwD67Th9Zh8qFklzwSdLVdWznGWf4zOtBgqXuzgf+htoLDtx0vhuIGHlxg== me@host',
    fingerPrint: '10:ce:57:3a:e4:a6:7a:97:1c:34:d4:66:5c:ca:d2:fe',
  },
  {
    line: 'ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBAB2xirbex9ZAGDeBzI4uzJIuJNgiQ+kKf32sukmDHLxkTehV4FPn+jhy53Kqxf8U8O5BIs1HQ8T7+ekPVO12w39XgCvHel83oC5nqMU2Mp80F/tjJOWuN7Dd+kRJyN2puiFg3QD0Oq8lf0DHqN7vShV7vCkKOG8fDIRhSiZC6DCskPJ5A== me@host',
    fingerPrint: '1e:81:8b:9d:3c:11:ac:f1:ec:bf:6f:d8:1f:1a:b6:47',
  },
  {
    line: 'sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIMOcv1HsBRyRjwPlPHbKyqBwRFP7KNVwCG7/Ru+G51xYAAAABHNzaDo= me@host',
    fingerPrint: 'b8:b8:1f:56:77:3a:f8:22:a6:99:01:f6:ef:05:bb:70',
  },
  {
    line: 'sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20AAAAIbmlzdHAyNTYAAABBBA7m/D8IKnL1poWXD5VsCXiZ4OMUJTR3Y/di6XVahlynhlZlGoo/fum7qN48zDVnigUmetnF+ocPh4drXJWGRJoAAAAEc3NoOg== me@host',
    fingerPrint: '38:4e:73:a6:53:90:37:2e:71:62:b1:67:99:e0:8f:2e',
  },
];

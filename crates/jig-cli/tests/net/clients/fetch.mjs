const answer = await fetch(process.argv[2]);
process.stdout.write(Buffer.from(await answer.arrayBuffer()));
process.exitCode = answer.ok ? 0 : 1;

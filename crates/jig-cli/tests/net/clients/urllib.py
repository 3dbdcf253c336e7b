import ssl
import sys
import urllib.error
import urllib.request

context = ssl.create_default_context(cafile="ca.pem")
try:
    with urllib.request.urlopen(sys.argv[1], context=context, timeout=60) as answer:
        sys.stdout.buffer.write(answer.read())
except urllib.error.HTTPError as error:
    print(error.read().decode())
    sys.exit(1)

/** The code that repeats a call of the explorer: for curl, TypeScript and Python, with a placeholder for the token. */

/** `path`: below the origin. `parameters` null: a GET with a Bearer token; otherwise a POST to an endpoint. */
export type ApiCall = { path: string; parameters: Record<string, string> | null }

export function endpointCall(endpoint: string, parameters: Record<string, string>): ApiCall {
  return { path: `/v1.0/${endpoint}`, parameters }
}

/** Name and code for each language. The code reads the token from the environment. */
export function snippetsOf(origin: string, { path, parameters }: ApiCall): (readonly [string, string])[] {
  const url = origin + path
  if (parameters === null) return bearerSnippets(url)
  const json = JSON.stringify(parameters)
  const fields = Object.entries(parameters).map(([key, value]) => `, ${JSON.stringify(key)}: ${JSON.stringify(value)}`)
  const keys = Object.entries(parameters).map(([key, value]) => `, ${key}: ${JSON.stringify(value)}`)
  const shellJson = `{"token":"'"$DOMAINDEX_TOKEN"'",${json.slice(1)}`.replaceAll("'\\''", "'")
  return [
    ['curl', `curl ${url} \\\n  -H 'Content-Type: application/json' \\\n  -d '${shellJson}'`],
    [
      'TypeScript',
      `const response = await fetch(${JSON.stringify(url)}, {\n` +
        "  method: 'POST',\n" +
        "  headers: { 'Content-Type': 'application/json' },\n" +
        `  body: JSON.stringify({ token: process.env.DOMAINDEX_TOKEN${keys.join('')} }),\n` +
        '})\nconsole.log(await response.json())',
    ],
    [
      'Python',
      'import json, os, urllib.request\n\n' +
        `body = {"token": os.environ["DOMAINDEX_TOKEN"]${fields.join('')}}\n` +
        `request = urllib.request.Request(${JSON.stringify(url)}, json.dumps(body).encode())\n` +
        'print(json.load(urllib.request.urlopen(request)))',
    ],
  ]
}

function bearerSnippets(url: string): (readonly [string, string])[] {
  return [
    ['curl', `curl ${url.includes('?') ? `'${url}'` : url} \\\n  -H "Authorization: Bearer $DOMAINDEX_TOKEN"`],
    [
      'TypeScript',
      `const response = await fetch(${JSON.stringify(url)}, {\n` +
        `  headers: { Authorization: \`Bearer \${process.env.DOMAINDEX_TOKEN}\` },\n` +
        '})\nconsole.log(await response.json())',
    ],
    [
      'Python',
      'import json, os, urllib.request\n\n' +
        `request = urllib.request.Request(${JSON.stringify(url)})\n` +
        'request.add_header("Authorization", f"Bearer {os.environ[\'DOMAINDEX_TOKEN\']}")\n' +
        'print(json.load(urllib.request.urlopen(request)))',
    ],
  ]
}

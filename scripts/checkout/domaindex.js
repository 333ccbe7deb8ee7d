#!/usr/bin/env node
// The command of `npx domaindex` in a checkout with npm 7 and 8: they find it in node_modules/.bin, and ask no registry.

import '../../bin/domaindex.js'

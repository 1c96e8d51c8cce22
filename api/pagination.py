"""Lists in pages. The count is that of the rows which the caller may see, never of all."""

from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """`?page=2&page_size=100`: pages of 50, at most 200."""

    page_size = 50
    max_page_size = 200
    page_size_query_param = "page_size"
